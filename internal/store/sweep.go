package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
)

var temporaryName = lazy.Pattern(`^\.tmp-([0-9]{1,10})-([0-9]{1,20})-[0-9]{1,20}-`)

// sweep removes what dead writers left in a folder.
func (s *Store) sweep(dir string) error {
	entries, err := s.list(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		m := temporaryName().FindStringSubmatch(entry.Name())
		if m == nil {
			continue
		}
		pid, errPID := strconv.Atoi(m[1])
		start, errStart := strconv.ParseUint(m[2], 10, 64)
		if errPID != nil || errStart != nil || process.Lives(pid, start) {
			continue
		}
		name := path.Join(dir, entry.Name())
		if err := s.root.RemoveAll(name); err != nil {
			return fmt.Errorf("sweep %s: %w", name, err)
		}
		s.log.Info("swept what a dead writer left", "path", name)
	}
	return nil
}

// list reads a folder below the project root; a missing one is empty.
func (s *Store) list(dir string) ([]os.DirEntry, error) {
	f, err := s.openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.close()
	entries, err := f.dir.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	return entries, nil
}
