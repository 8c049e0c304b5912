package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Logs are what the agents and commands of one run printed.
type Logs struct {
	// Raw: show what an agent's program printed, not its transcript.
	Raw bool

	app *App
	ref workflow.RunRef
	// Dir is their folder, from the project's root.
	Dir string
}

// Logs are those of one run.
func (p *App) Logs(ref workflow.RunRef) *Logs {
	return &Logs{app: p, ref: ref, Dir: store.RunDir(ref) + "/logs"}
}

// LogLine is a line of a log, or says that the next lines are from another log.
type LogLine struct {
	Log string
	// Begins: the lines of Log come next.
	Begins bool
	// Entry: Text is an agent.Entry as JSON. Otherwise a program printed it; secrets are masked, but control characters are not
	// removed, and the last line may be incomplete.
	Entry bool
	Text  string
}

// Names lists the logs, the one written last at the end.
func (l *Logs) Names() ([]string, error) {
	abs, err := l.app.Store.Abs(l.Dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	var infos []os.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(info.Name()) == ".log" {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b os.FileInfo) int {
		if c := a.ModTime().Compare(b.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.Name(), b.Name())
	})
	var names []string
	for _, info := range infos {
		names = append(names, info.Name())
	}
	return names, nil
}

// Newest reads the log that was written last.
func (l *Logs) Newest(ctx context.Context, follow bool, show func(LogLine)) error {
	names, err := l.Names()
	if err != nil {
		return err
	}
	if len(names) == 0 && !follow {
		return &problem.Error{Err: errors.New("the run has no log yet"), Hint: "see where it is: signalbox status " + l.ref.RequestID, Code: problem.NotFound}
	}
	name := ""
	if len(names) > 0 {
		name = names[len(names)-1]
	}
	return l.Read(ctx, name, follow, show)
}

// Read shows a log. With follow it also shows every log that begins after it, until the run has ended.
func (l *Logs) Read(ctx context.Context, name string, follow bool, show func(LogLine)) error {
	if name != "" && (path.Base(name) != name || filepath.Ext(name) != ".log") {
		return &problem.Error{Err: fmt.Errorf("%q is no log's name", name), Hint: "see which there are: signalbox logs --list " + l.ref.RequestID, Code: problem.Usage}
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := l.app.Store.Watch(watch, l.Dir, store.RunDir(l.ref)+"/stage.json")
	if err != nil {
		return wire.Explained(err)
	}
	read := map[string]int64{}
	for {
		run, err := l.app.Store.Stage(l.ref).Load(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return wire.Explained(err)
		}
		if err := l.more(name, read, follow, show); err != nil {
			return err
		}
		if !follow || run.State.Ended() {
			return nil
		}
		if err := l.app.MustBeCarried(ctx, []workflow.Run{run}); err != nil {
			return err
		}
		select {
		case _, open := <-changes:
			if !open {
				return nil
			}
		case <-time.After(DeadPoll):
		}
	}
}

// more shows the new lines of the log, and of those that began after it.
func (l *Logs) more(first string, read map[string]int64, follow bool, show func(LogLine)) error {
	names, err := l.Names()
	if err != nil {
		return err
	}
	after := first == ""
	for _, name := range names {
		_, begun := read[name]
		if !begun && name != first && (!after || !follow) {
			continue
		}
		after = after || name == first
		if !begun && follow {
			show(LogLine{Log: name, Begins: true})
		}
		n, err := l.from(name, read[name], show)
		if err != nil {
			return wire.Explained(err)
		}
		read[name] += n
	}
	if _, ok := read[first]; !ok && first != "" {
		return &problem.Error{Err: fmt.Errorf("there is no log %q", first), Hint: "see which there are: signalbox logs --list " + l.ref.RequestID, Code: problem.NotFound}
	}
	return nil
}

// from shows a log, or the transcript beside it, from an offset on and returns how many bytes it read.
func (l *Logs) from(name string, offset int64, show func(LogLine)) (n int64, err error) {
	log := l.Dir + "/" + name
	var file *os.File
	entries := !l.Raw
	if entries {
		file, err = l.app.Store.OpenArtifact(store.TranscriptPath(log))
		entries = err == nil
	}
	if !entries {
		file, err = l.app.Store.OpenArtifact(log)
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadString('\n')
		if err != nil && entries {
			return n, nil // the rest of the line is still to come
		}
		n += int64(len(line))
		if line != "" {
			show(LogLine{Log: name, Entry: entries, Text: line})
		}
		if err != nil {
			return n, nil
		}
	}
}

// tailLimit is how much of a log's end Last searches, in bytes.
const tailLimit = 16 << 10

// Last is the last line near the end of the newest log for which shown returns any text, as that text. The transcript counts before
// the log. Last is empty if there is no such line.
func (l *Logs) Last(shown func(LogLine) string) string {
	names, err := l.Names()
	if err != nil || len(names) == 0 {
		return ""
	}
	log := LogLine{Log: names[len(names)-1], Entry: true}
	if said := l.lastOf(store.TranscriptPath(l.Dir+"/"+log.Log), log, shown); said != "" {
		return said
	}
	log.Entry = false
	return l.lastOf(l.Dir+"/"+log.Log, log, shown)
}

// lastOf is the last line near the end of a file for which shown returns any text.
func (l *Logs) lastOf(name string, line LogLine, shown func(LogLine) string) string {
	file, err := l.app.Store.OpenArtifact(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, min(tailLimit, info.Size()))
	n, err := file.ReadAt(data, info.Size()-int64(len(data)))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	for _, text := range slices.Backward(strings.Split(string(data[:n]), "\n")) {
		line.Text = text
		if said := strings.TrimSpace(shown(line)); said != "" {
			return said
		}
	}
	return ""
}
