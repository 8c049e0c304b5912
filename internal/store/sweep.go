package store

import (
	"context"
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

// sweepShallow removes what dead writers left where every program writes. A run's
// own folders are swept when the run is opened or its request gets another run, so
// that a start doesn't read the folder of every run there ever was.
func (s *Store) sweepShallow(ctx context.Context) error {
	folders := []string{".", privateDir, statusDir}
	entries, err := s.list(privateDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			folders = append(folders, path.Join(privateDir, entry.Name()))
		}
	}
	for _, name := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.sweep(name); err != nil {
			return err
		}
	}
	return nil
}

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
