package heal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxRotated is how many files beside a log are searched for its rotated predecessor.
const maxRotated = 100

// rotated returns the lines added to a log before it was renamed ("app.log.1", "app.log-20260202") and a new one started. A log that was deleted or
// compressed is ignored.
func (p *pass) rotated(name string, known sight) ([]byte, error) {
	siblings, err := p.beside(name)
	if err != nil {
		return nil, err
	}
	for _, sibling := range siblings[:min(len(siblings), maxRotated)] {
		file, err := OpenLog(p.Root, sibling)
		if err != nil {
			continue // a folder, or removed meanwhile
		}
		rest, found, err := restOf(file, known)
		if err = errors.Join(err, file.Close()); err != nil || found {
			return rest, err
		}
	}
	return nil, nil
}

// beside returns the files whose names begin with the log's name.
func (p *pass) beside(name string) (siblings []string, err error) {
	open := os.Open
	if !filepath.IsAbs(name) {
		root, err := os.OpenRoot(p.Root)
		if err != nil {
			return nil, fmt.Errorf("open project: %w", err)
		}
		defer func() { _ = root.Close() }()
		open = root.Open
	}
	folder, err := open(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("look beside log: %w", err)
	}
	defer func() { _ = folder.Close() }()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("look beside log: %w", err)
	}
	for _, other := range names {
		if rest, is := strings.CutPrefix(other, filepath.Base(name)); is && rest != "" && strings.ContainsAny(rest[:1], ".-") {
			siblings = append(siblings, filepath.Join(filepath.Dir(name), other))
		}
	}
	return siblings, nil
}

// restOf returns the unread rest of a file if it is the one read before.
func restOf(file *os.File, known sight) (rest []byte, found bool, err error) {
	info, err := file.Stat()
	if err != nil || inode(info) != known.Inode || info.Size() < known.Offset {
		return nil, false, err
	}
	rest, err = io.ReadAll(io.NewSectionReader(file, max(known.Offset, info.Size()-maxNews), min(info.Size()-known.Offset, maxNews)))
	if err != nil {
		return nil, true, fmt.Errorf("read rotated log: %w", err)
	}
	return append(rest, '\n'), true, nil
}
