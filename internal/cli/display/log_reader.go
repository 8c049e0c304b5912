package display

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

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// LogReader prints the logs of one run.
type LogReader struct {
	*command.Project
	Ref workflow.RunRef
	Dir string
	Raw bool
}

// Names lists the logs, the one written last at the end.
func (l *LogReader) Names() ([]string, error) {
	abs, err := l.Store.Abs(l.Dir)
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

func (l *LogReader) List() error {
	names, err := l.Names()
	if err != nil {
		return err
	}
	if l.JSON {
		return l.PrintJSON(names)
	}
	for _, name := range names {
		l.Print("%s\n", redact.Line(name, 200))
	}
	return nil
}

func (l *LogReader) Newest(ctx context.Context, follow bool) error {
	names, err := l.Names()
	if err != nil {
		return err
	}
	if len(names) == 0 && !follow {
		return &problem.Error{Err: errors.New("the run has no log yet"), Hint: "see where it is: signalbox status " + l.Ref.RequestID, Code: problem.NotFound}
	}
	name := ""
	if len(names) > 0 {
		name = names[len(names)-1]
	}
	return l.One(ctx, name, follow)
}

// One prints a log; following, also every log that begins after it.
func (l *LogReader) One(ctx context.Context, name string, follow bool) error {
	if name != "" && (path.Base(name) != name || filepath.Ext(name) != ".log") {
		return &problem.Error{Err: fmt.Errorf("%q is no log's name", name), Hint: "see which there are: signalbox logs --list " + l.Ref.RequestID, Code: problem.Usage}
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := l.Store.Watch(watch, l.Dir, store.RunDir(l.Ref)+"/stage.json")
	if err != nil {
		return wire.Explained(err)
	}
	read := map[string]int64{}
	for {
		run, err := l.Store.Stage(l.Ref).Load(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return wire.Explained(err)
		}
		if err := l.more(name, read, follow); err != nil {
			return err
		}
		if !follow || run.State.Ended() {
			return nil
		}
		if err := l.MustBeCarried(ctx, []workflow.Run{run}); err != nil {
			return err
		}
		select {
		case _, open := <-changes:
			if !open {
				return nil
			}
		case <-time.After(app.DeadPoll):
		}
	}
}

// more prints what was not printed yet of the log, and of those that began after it.
func (l *LogReader) more(first string, read map[string]int64, follow bool) error {
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
		n, err := l.from(name, read[name], !begun && follow)
		if err != nil {
			return err
		}
		read[name] += n
	}
	if _, ok := read[first]; !ok && first != "" {
		return &problem.Error{Err: fmt.Errorf("there is no log %q", first), Hint: "see which there are: signalbox logs --list " + l.Ref.RequestID, Code: problem.NotFound}
	}
	return nil
}

func (l *LogReader) from(name string, offset int64, headed bool) (int64, error) {
	file, shown, whole, err := l.open(name)
	if err != nil {
		return 0, wire.Explained(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	if headed && !l.JSON {
		l.Print("%s\n", l.Paint(command.Bold, "==> "+name+" <=="))
	}
	var n int64
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && whole {
			return n, nil // the rest of the line is still to come
		}
		n += int64(len(line))
		l.Print("%s", shown(line))
		if err != nil {
			return n, nil
		}
	}
}

// open opens the transcript beside a log if there is one, and says how its lines are shown; those of
// a transcript are shown whole or not at all.
func (l *LogReader) open(name string) (file io.ReadSeekCloser, shown func(string) string, whole bool, err error) {
	log := l.Dir + "/" + name
	if !l.Raw {
		if file, err := l.Store.OpenArtifact(store.TranscriptPath(log)); err == nil {
			if l.JSON {
				return file, l.transcriptJSON, true, nil
			}
			return file, func(line string) string { return transcriptLine(l.Project.Invocation, line) }, true, nil
		}
	}
	file, err = l.Store.OpenArtifact(log)
	if l.JSON {
		return file, logJSON, false, err
	}
	return file, redact.Clean, false, err
}
