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
		var rest []byte
		info, err := file.Stat()
		found := err == nil && inode(info) == known.Inode && info.Size() >= known.Offset
		if found { // it's the file that was read before
			rest, err = io.ReadAll(io.NewSectionReader(file, max(known.Offset, info.Size()-maxNews), min(info.Size()-known.Offset, maxNews)))
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, fmt.Errorf("read rotated log: %w", err)
		}
		if found {
			return append(rest, '\n'), nil
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
