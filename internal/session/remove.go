package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"signalbox/internal/flock"
)

// Remove forgets a session that has ended, with what it printed. Its lock stays, because a lock
// that is removed can be held by two. ErrRunning: it has not ended.
func (x *Session) Remove(ctx context.Context) error {
	info, err := x.Info(ctx) // writes the end of one that was killed down
	if err != nil {
		return err
	}
	if info.EndedAt == nil {
		return fmt.Errorf("remove session %s: %w", x.name, ErrRunning)
	}
	lock, err := takeLock(ctx, filepath.Join(x.dir, lockFile))
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	defer func() { _ = flock.Release(lock) }()
	entries, err := os.ReadDir(x.dir)
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	for _, entry := range entries {
		if entry.Name() != lockFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(x.dir, entry.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", x.name, err)
	}
	return nil
}
