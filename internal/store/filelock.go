package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// fileLock is an exclusive flock. The kernel frees it when its holder dies;
// close-on-exec keeps children from inheriting it. Its file is never removed by
// us: whoever waits on a removed file would hold a lock that nobody else sees.
type fileLock struct {
	folder *folder
	name   string
	perm   uint32
	file   *os.File
}

// acquire waits for the lock until ctx ends. The file stays open between
// acquire and release, so that a writer in a loop pays two system calls.
func (l *fileLock) acquire(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.file == nil {
			file, err := l.folder.open(l.name, os.O_RDWR|os.O_CREATE, l.perm)
			if err != nil {
				return err
			}
			l.file = file
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
		current, err := l.folder.same(l.name, l.file)
		if err != nil || current {
			return err
		}
		l.close()
	}
}

// wait locks l.file. A thread waiting in the kernel cannot be called back: when
// ctx ends it is left behind with the file, which it closes when it gets the lock.
func (l *fileLock) wait(ctx context.Context) error {
	got, err := flock(l.file, unix.LOCK_EX|unix.LOCK_NB)
	if got || err != nil {
		return err
	}
	file, done := l.file, make(chan error, 1)
	go func() {
		_, err := flock(file, unix.LOCK_EX)
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		l.file = nil
		go func() {
			<-done //nolint:errcheck // whether it got the lock or not, closing gives it back
			_ = file.Close()
		}()
		return ctx.Err()
	}
}

func (l *fileLock) release() error {
	_, err := flock(l.file, unix.LOCK_UN)
	return err
}

func (l *fileLock) close() {
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// flock reports whether the lock was got; with LOCK_NB it may be somebody else's.
func flock(file *os.File, how int) (bool, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	var locking error
	if err := conn.Control(func(fd uintptr) {
		locking = uninterrupted(func() error { return unix.Flock(int(fd), how) })
	}); err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	if errors.Is(locking, unix.EWOULDBLOCK) {
		return false, nil
	}
	if locking != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), locking)
	}
	return true, nil
}

// same reports whether file is what is at name now. If not, somebody removed or
// replaced it, and a lock on it excludes nobody.
func (f *folder) same(name string, file *os.File) (bool, error) {
	st, err := fstat(file)
	if err != nil {
		return false, err
	}
	at, err := f.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && at.ino == st.Ino && at.dev == uint64(st.Dev), err
}
