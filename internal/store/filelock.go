package store

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"signalbox/internal/flock"
)

// fileLock is an exclusive flock. We never remove its file: a process waiting on a
// removed file would hold a lock that no other process sees.
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
		if err := flock.Wait(ctx, l.file); err != nil {
			l.file = nil
			return err
		}
		current, err := l.folder.same(l.name, l.file)
		if err != nil || current {
			return err
		}
		l.close()
	}
}

func (l *fileLock) release() error { return flock.Free(l.file) }

func (l *fileLock) close() {
	if l.file != nil {
		_ = flock.Release(l.file)
		l.file = nil
	}
}

// same reports whether file is the one at name now. If not, it was removed or
// replaced, and a lock on it excludes no one.
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
