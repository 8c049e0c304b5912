package heal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

const (
	// maxNews is how much of a log's new text is read in one look, in bytes; of more, the last part.
	maxNews = 4 << 20
	// maxLines is how many error lines are kept, and maxLine how much of each, in bytes.
	maxLines = 20
	maxLine  = 1 << 10
)

// readLog searches the lines added to a log since the last look for errors. Lines from before the first look don't count. A log can't show that an
// error is gone, so an open error is checked by the configured rerun.
func (p *pass) readLog(ctx context.Context, c workflow.HealthCheck, place Place) (seen, *sight, error) {
	pattern, err := regexp.Compile(c.Pattern)
	if err != nil {
		return seen{outcome: LookUnknown, message: fmt.Sprintf("read pattern: %v", err)}, nil, nil
	}
	known, before := p.seen.Checks[c.ID]
	news, fresh, err := p.news(c.File, known, before)
	if err != nil {
		return seen{outcome: LookUnknown, message: err.Error()}, fresh, nil
	}
	var found []string
	for line := range bytes.Lines(news) {
		if line = bytes.TrimRight(line, "\r\n"); pattern.Match(line) && len(found) < maxLines {
			found = append(found, redact.Cut(string(line), maxLine))
		}
	}
	if lines := strings.Join(found, "\n"); lines != "" {
		return seen{outcome: LookFailed, message: lines, said: lines}, fresh, nil
	}
	if p.open(c) == nil || place == nil {
		return seen{outcome: LookPassed}, fresh, nil
	}
	s, err := p.run(ctx, place, process.Command{Args: shell(c.Rerun), Total: c.Limit()}, c.Limit())
	s.still = s.outcome == LookFailed
	return s, fresh, err
}

// news returns the lines that a log got since known, and how far it's read now. The first time, nothing is new.
func (p *pass) news(name string, known sight, before bool) ([]byte, *sight, error) {
	file, err := OpenLog(p.Root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &sight{}, fmt.Errorf("log %s is not there", name) // all its lines will be new
	}
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read log: %w", err)
	}
	fresh := &sight{Offset: info.Size(), Inode: inode(info)}
	if !before {
		return nil, fresh, nil
	}
	var rest []byte
	if known.Inode != fresh.Inode {
		if rest, err = p.rotated(name, known); err != nil {
			return nil, nil, err
		}
	}
	from := known.Offset
	if known.Inode != fresh.Inode || from > fresh.Offset {
		from = 0 // another file: rotated, or started anew
	}
	news, err := io.ReadAll(io.NewSectionReader(file, max(from, fresh.Offset-maxNews), min(fresh.Offset-from, maxNews)))
	if err != nil {
		return nil, nil, fmt.Errorf("read log: %w", err)
	}
	whole := bytes.LastIndexByte(news, '\n') + 1 // the next look reads a line that is still being written
	fresh.Offset -= int64(len(news) - whole)
	return append(rest, news[:whole]...), fresh, nil
}

// OpenLog opens a regular file. A path below the project root can't lead out of it.
func OpenLog(project, name string) (file *os.File, err error) {
	if filepath.IsAbs(name) {
		file, err = os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	} else {
		root, openErr := os.OpenRoot(project)
		if openErr != nil {
			return nil, fmt.Errorf("open project: %w", openErr)
		}
		defer func() { _ = root.Close() }()
		file, err = root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("log %q is no regular file", name), err, file.Close())
	}
	return file, nil
}

func inode(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
