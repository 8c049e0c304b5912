package cli

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

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newLogs(a *invocation) *cobra.Command {
	var follow, names, raw bool
	c := &cobra.Command{
		Use:   "logs RUN [LOG]",
		Short: "Print a run's newest log, or a named one",
		Long: "Print what an agent or a command of the run printed: the newest log, or the one named. Control characters are\n" +
			"taken out. Of an agent that Signalbox understands it is what the agent said and did; --raw is all that its\n" +
			"program printed. With -f go on until the run stands still, through every log that begins meanwhile.\n" +
			"--json: one object a line, an agent's as its transcript has them (docs/agents.md), any other log's with its line.",
		Example: "  signalbox logs 42\n  signalbox logs 42 --list\n  signalbox logs 42 implementer.S01.1.log\n  signalbox logs 42 -f",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.openRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			l := &logReader{project: p, ref: found.Ref, dir: store.RunDir(found.Ref) + "/logs", raw: raw}
			switch {
			case names:
				return l.list()
			case len(args) == 2:
				return l.one(c.Context(), args[1], follow)
			}
			return l.newest(c.Context(), follow)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run stands still")
	c.Flags().BoolVar(&raw, "raw", false, "print what an agent's program printed, not what it means")
	c.Flags().BoolVarP(&names, "list", "l", false, "list the run's logs, oldest first")
	return c
}

// logReader prints the logs of one run.
type logReader struct {
	*project
	ref workflow.RunRef
	dir string
	raw bool
}

// names lists the logs, the one written last at the end.
func (l *logReader) names() ([]string, error) {
	abs, err := l.Store.Abs(l.dir)
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

func (l *logReader) list() error {
	names, err := l.names()
	if err != nil {
		return err
	}
	if l.json {
		return l.printJSON(names)
	}
	for _, name := range names {
		l.print("%s\n", redact.Line(name, 200))
	}
	return nil
}

func (l *logReader) newest(ctx context.Context, follow bool) error {
	names, err := l.names()
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
	return l.one(ctx, name, follow)
}

// one prints a log; following, also every log that begins after it.
func (l *logReader) one(ctx context.Context, name string, follow bool) error {
	if name != "" && (path.Base(name) != name || filepath.Ext(name) != ".log") {
		return &problem.Error{Err: fmt.Errorf("%q is no log's name", name), Hint: "see which there are: signalbox logs --list " + l.ref.RequestID, Code: problem.Usage}
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := l.Store.Watch(watch, l.dir, store.RunDir(l.ref)+"/stage.json")
	if err != nil {
		return wire.Explained(err)
	}
	read := map[string]int64{}
	for {
		run, err := l.Store.Stage(l.ref).Load(ctx)
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
func (l *logReader) more(first string, read map[string]int64, follow bool) error {
	names, err := l.names()
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
		return &problem.Error{Err: fmt.Errorf("there is no log %q", first), Hint: "see which there are: signalbox logs --list " + l.ref.RequestID, Code: problem.NotFound}
	}
	return nil
}

func (l *logReader) from(name string, offset int64, headed bool) (int64, error) {
	file, shown, whole, err := l.open(name)
	if err != nil {
		return 0, wire.Explained(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	if headed && !l.json {
		l.print("%s\n", l.paint(bold, "==> "+name+" <=="))
	}
	var n int64
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadString('\n')
		if err != nil && whole {
			return n, nil // the rest of the line is still to come
		}
		n += int64(len(line))
		l.print("%s", shown(line))
		if err != nil {
			return n, nil
		}
	}
}

// open opens the transcript beside a log if there is one, and says how its lines are shown; those of
// a transcript are shown whole or not at all.
func (l *logReader) open(name string) (file io.ReadSeekCloser, shown func(string) string, whole bool, err error) {
	log := l.dir + "/" + name
	if !l.raw {
		if file, err := l.Store.OpenArtifact(store.TranscriptPath(log)); err == nil {
			if l.json {
				return file, l.transcriptJSON, true, nil
			}
			return file, l.transcriptLine, true, nil
		}
	}
	file, err = l.Store.OpenArtifact(log)
	if l.json {
		return file, logJSON, false, err
	}
	return file, redact.Clean, false, err
}
