package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"sync"

	"golang.org/x/sys/unix"

	"signalbox/internal/engine"
	"signalbox/internal/flock"
)

// restingFile is empty. Each byte of it that a process has locked is a lock that rests: one descriptor holds any number of them,
// and the kernel frees them with the process, as it does flocks.
const restingFile = "resting.lock"

// resting are the locks of this process that rest.
type resting struct {
	mu    sync.Mutex
	file  *os.File
	names map[int64]string
}

// byteOf returns a lock's byte in restingFile.
func byteOf(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int64(h.Sum64() >> 2)
}

// add reports whether the lock may rest.
func (r *resting) add(locks *folder, name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := byteOf(name)
	if _, taken := r.names[at]; taken {
		return false
	}
	if r.file == nil {
		file, _, err := locks.openRegular(restingFile, os.O_RDWR|os.O_CREATE, privateFile)
		if err != nil {
			return false
		}
		r.file, r.names = file, map[int64]string{}
	} else if current, err := locks.same(restingFile, r.file); err != nil || !current {
		return false // no one would see it in the file that was removed
	}
	if _, err := lockByte(r.file, unix.F_OFD_SETLK, unix.F_WRLCK, at); err != nil {
		return false
	}
	r.names[at] = name
	return true
}

func (r *resting) remove(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := byteOf(name)
	if r.names[at] != name {
		return nil
	}
	_, err := lockByte(r.file, unix.F_OFD_SETLK, unix.F_UNLCK, at)
	if delete(r.names, at); len(r.names) == 0 {
		err = errors.Join(err, r.file.Close())
		r.file = nil
	}
	return err
}

// rests reports whether a lock with this record rests in any process. It opens the file anew: a descriptor never conflicts with
// its own locks.
func (s *Store) rests(name string, record LockRecord) (bool, error) {
	if record.Epoch == 0 || record.ReleasedAt != nil {
		return false, nil
	}
	file, _, err := s.locks.openRegular(restingFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	held, err := lockByte(file, unix.F_OFD_GETLK, unix.F_WRLCK, byteOf(name))
	return held, errors.Join(err, file.Close())
}

// lockByte locks, frees or asks for one byte; see fcntl(2), "Open file description locks".
func lockByte(file *os.File, command int, kind int16, at int64) (held bool, err error) {
	l := unix.Flock_t{Type: kind, Start: at, Len: 1}
	if err := unix.FcntlFlock(file.Fd(), command, &l); err != nil {
		return false, fmt.Errorf("lock a byte of %s: %w", restingFile, err)
	}
	return l.Type != unix.F_UNLCK, nil
}

// Rest gives the lock's descriptor back for as long as its holder only waits. The lock stays held.
func (l *Lock) Rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && !l.gone && l.store.resting.add(l.store.locks, l.name) {
		_ = flock.Release(l.file)
		l.file, l.resting = nil, true
	}
}

// Wake takes the descriptor again after Rest.
func (l *Lock) Wake(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.resting {
		return nil
	}
	file, err := l.reopen()
	if err == nil {
		err = flock.Wait(ctx, file) // who only looks at the lock has it for a moment
		if err == nil {
			err = l.check(file)
		}
		if err != nil {
			_ = file.Close()
		}
	}
	if errors.Is(err, ErrLockLost) {
		err = fmt.Errorf("%w: %w", engine.ErrLost, err)
	}
	if err != nil {
		return fmt.Errorf("take %s again: %w", path.Join(locksDir, l.name), err)
	}
	l.file, l.resting = file, false
	return l.store.resting.remove(l.name)
}

// reopen opens the file of a lock that rests. ErrLockLost: another process has the lock, or removed it.
func (l *Lock) reopen() (*os.File, error) {
	file, _, err := l.store.locks.openRegular(l.name, os.O_RDWR, privateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, l.lose()
	}
	if err != nil {
		return nil, err
	}
	if err := l.check(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
