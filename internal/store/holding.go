package store

import (
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/workflow"
)

// Epoch returns the lock's fencing token, higher than that of every earlier holder.
func (l *Lock) Epoch() int64 { return l.record.Epoch }

// Lost returns a channel that is closed when another process turns out to have the
// lock. The former holder stops before it writes anything.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// View returns the lock as stage.json shows it.
func (l *Lock) View() workflow.Lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.record.AcquiredAt
	return workflow.Lock{Path: path.Join(locksDir, l.name), Held: !l.gone, AcquiredAt: &at, TTLSec: l.record.TTLSec}
}

func (l *Lock) renewUntilReleased() {
	ticker := time.NewTicker(time.Duration(l.record.TTLSec) * time.Second / 3)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		err := l.Extend()
		if errors.Is(err, ErrLockLost) || errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			l.store.log.Warn("renew a lock", "path", path.Join(locksDir, l.name), "error", err)
		}
	}
}

// Extend renews the record and checks that the caller still holds the lock. It
// costs three system calls; call it before an effect that can't be undone.
func (l *Lock) Extend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file
	switch {
	case l.resting:
		var err error
		if file, err = l.reopen(); err != nil {
			return fmt.Errorf("renew %s: %w", path.Join(locksDir, l.name), err)
		}
		defer func() { _ = file.Close() }()
	case file == nil:
		return fmt.Errorf("renew %s: %w", path.Join(locksDir, l.name), os.ErrClosed)
	default:
		if err := l.check(file); err != nil {
			return fmt.Errorf("renew %s: %w", path.Join(locksDir, l.name), err)
		}
	}
	l.record.RenewedAt = l.store.clock().UTC()
	return writeRecord(file, l.record)
}

// check returns ErrLockLost, now and ever after, once the file is another one or has a later holder.
func (l *Lock) check(file *os.File) error {
	if l.gone {
		return ErrLockLost
	}
	current, err := l.store.locks.same(l.name, file)
	if err != nil {
		return err
	}
	record, err := readRecord(file)
	if err != nil {
		return err
	}
	if !current || record.Epoch > l.record.Epoch || l.resting && record.Epoch != l.record.Epoch {
		return l.lose()
	}
	return nil
}

func (l *Lock) lose() error {
	if !l.gone {
		l.gone = true
		close(l.lost)
	}
	return ErrLockLost
}

// Release records that the lock is free and frees it. Only the first call does anything.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	switch {
	case l.resting:
		l.resting = false
		defer func() { _ = l.store.resting.remove(l.name) }()
		if l.file, err = l.reopen(); errors.Is(err, ErrLockLost) {
			err = nil
		}
	case l.file == nil:
		return nil
	}
	close(l.stop)
	if l.file == nil {
		return err
	}
	if !l.gone {
		now := l.store.clock().UTC()
		l.record.ReleasedAt, l.gone = &now, true
		err = writeRecord(l.file, l.record)
	}
	err = errors.Join(err, flock.Release(l.file))
	l.file = nil
	return err
}
