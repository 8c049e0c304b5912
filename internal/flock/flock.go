// Package flock locks files that are open, with flock(2): against other processes, and against
// whoever opened the same file again. The kernel frees a lock when its holder ends, however it
// does; close-on-exec keeps the programs it starts from inheriting it.
package flock

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Try takes the lock unless somebody has it.
func Try(f *os.File) (got bool, err error) { return try(f, unix.LOCK_EX) }

// TryShared takes the lock together with others who share it, unless somebody has it alone.
func TryShared(f *os.File) (got bool, err error) { return try(f, unix.LOCK_SH) }

func try(f *os.File, how int) (bool, error) {
	err := flock(f, how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Wait takes the lock, and waits for it until ctx ends. When it fails the file is closed, perhaps
// later: a thread that waits in the kernel cannot be called back, so it is left behind with it.
func Wait(ctx context.Context, f *os.File) error {
	if got, err := Try(f); got || err != nil {
		return closedUnless(err, f)
	}
	done := make(chan error, 1)
	go func() { done <- flock(f, unix.LOCK_EX) }()
	select {
	case err := <-done:
		return closedUnless(err, f)
	case <-ctx.Done():
		go func() {
			<-done //nolint:errcheck // whether it got the lock or not, it is given back
			_ = Release(f)
		}()
		return context.Cause(ctx)
	}
}

func closedUnless(err error, f *os.File) error {
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// Free frees the lock and keeps the file open.
func Free(f *os.File) error { return flock(f, unix.LOCK_UN) }

// Release frees the lock and closes the file. Closing alone would leave the lock for a moment with
// any child of this process that is between its fork and its exec, and so has the file open too.
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
