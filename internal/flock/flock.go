// Package flock locks open files with flock(2), against other processes and against other openings of the
// same file in this process. The kernel frees a lock when its holder ends, even by SIGKILL. Files are
// close-on-exec, so child programs don't inherit a lock.
package flock

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Try takes the lock if it is free, and reports whether it did.
func Try(f *os.File) (got bool, err error) { return try(f, unix.LOCK_EX) }

// TryShared takes a shared lock unless the lock is held exclusively, and reports whether it did.
func TryShared(f *os.File) (got bool, err error) { return try(f, unix.LOCK_SH) }

func try(f *os.File, how int) (bool, error) {
	err := flock(f, how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Wait takes the lock, waiting until ctx ends. On failure it closes the file, possibly after it returns:
// a thread blocked in flock(2) can't be interrupted, so Wait leaves the file to it.
func Wait(ctx context.Context, f *os.File) error {
	got, err := Try(f)
	if err == nil && !got {
		done := make(chan error, 1)
		go func() { done <- flock(f, unix.LOCK_EX) }()
		select {
		case err = <-done:
		case <-ctx.Done():
			go func() {
				<-done //nolint:errcheck // frees the lock if the thread still got it
				_ = Release(f)
			}()
			return context.Cause(ctx)
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// Free frees the lock and keeps the file open.
func Free(f *os.File) error { return flock(f, unix.LOCK_UN) }

// Release frees the lock and closes the file. Closing alone isn't enough: a child between fork and exec
// still has the file open, and would keep the lock for a moment.
func Release(f *os.File) error { return errors.Join(Free(f), f.Close()) }

func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	var locking error
	err = conn.Control(func(fd uintptr) {
		for locking = unix.EINTR; errors.Is(locking, unix.EINTR); {
			locking = unix.Flock(int(fd), how)
		}
	})
	if err = errors.Join(err, locking); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}
