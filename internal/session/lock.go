package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/flock"
)

// lockTries and lockPause: how long to wait for the lock of a session, because another process may just be
// probing it, or a host that has ended is closing its connections.
const lockTries, lockPause = 300, 10 * time.Millisecond

// takeLock takes the lock that a host holds while it lives. ErrRunning: another host holds it.
func takeLock(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, privateFile)
	if err != nil {
		return nil, fmt.Errorf("open lock of session: %w", err)
	}
	got := false
	for range lockTries {
		if got, err = flock.Try(file); got || err != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockPause):
		}
	}
	if err == nil && !got {
		err = ErrRunning
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock session: %w", err), file.Close())
	}
	return file, nil
}

// held reports whether a host lives.
func held(path string) (bool, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open lock of session: %w", err)
	}
	defer func() { _ = flock.Release(file) }()
	free, err := flock.TryShared(file)
	if err != nil {
		return false, fmt.Errorf("check lock of session: %w", err)
	}
	return !free, nil
}
