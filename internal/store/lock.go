package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sync"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// Lock is a held lock: an flock, which the kernel frees with the process, and a
// record in its file for every process that can't see the flock. It renews its
// record until Release.
type Lock struct {
	store *Store
	name  string
	file  *os.File

	mu      sync.Mutex
	record  LockRecord
	gone    bool
	resting bool // the file is closed meanwhile
	lost    chan struct{}
	stop    chan struct{}
}

// HeldError: another process has the lock.
type HeldError struct {
	// Holder is the zero LockRecord if the holder hasn't written its record yet.
	Holder LockRecord
}

// Is lets errors.Is find engine.ErrHeld.
func (e *HeldError) Is(target error) bool { return target == engine.ErrHeld }

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 && e.Holder.Owner != "" {
		return "lock is held by " + e.Holder.Owner
	}
	if e.Holder.PID == 0 {
		return "lock is held by a process that has not written its name yet"
	}
	return fmt.Sprintf("lock is held by %s (run %s, pid %d on %s)", e.Holder.Owner, e.Holder.RunID, e.Holder.PID, e.Holder.Host)
}

// LockRequest takes the lock of a request, so that it has one live run at most.
// It doesn't wait: a *HeldError names the holder.
func (s *Store) LockRequest(ctx context.Context, requestID string, owner engine.Owner) (engine.Lock, error) {
	if err := validateRequestID(requestID); err != nil {
		return nil, err
	}
	lock, err := s.take(ctx, "request-"+requestID+".lock", owner)
	if err != nil {
		return nil, fmt.Errorf("lock request %s: %w", requestID, err)
	}
	return lock, nil
}

const healingLock = "healing.lock"

// LockHealing takes the lock of the project's self-healing loop, so that no two loops check or repair
// anything at once. It doesn't wait: a *HeldError names the holder.
func (s *Store) LockHealing(ctx context.Context, owner string) (*Lock, error) {
	lock, err := s.take(ctx, healingLock, engine.Owner{Name: owner})
	if err != nil {
		return nil, fmt.Errorf("lock the self-healing loop: %w", err)
	}
	return lock, nil
}

// LockOnly takes the lock of the project's only process that does something: "watching" takes orders from the forge, "serving" keeps the project
// going. It doesn't wait: a *HeldError names the holder.
func (s *Store) LockOnly(ctx context.Context, doing, owner string) (*Lock, error) {
	return s.take(ctx, doing+".lock", engine.Owner{Name: owner})
}

// TakeSlot takes one of the queue's slots. If none is free, it returns no lock and
// no error, but the names of their owners.
func (s *Store) TakeSlot(ctx context.Context, slots int, owner engine.Owner) (engine.Lock, []string, error) {
	var holders []string
	for i := range slots {
		lock, err := s.take(ctx, fmt.Sprintf("slot-%d.lock", i), owner)
		if held := (*HeldError)(nil); errors.As(err, &held) {
			holders = append(holders, held.Holder.Owner)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("take slot %d: %w", i, err)
		}
		return lock, nil, nil
	}
	return nil, holders, nil
}

// Holders takes the flock for some microseconds, which looks like a dead holder.
// So a taker tries again, this often and after this long.
const (
	takeAttempts = 10
	takePause    = 2 * time.Millisecond
)

func (s *Store) take(ctx context.Context, name string, owner engine.Owner) (*Lock, error) {
	var held *HeldError
	for range takeAttempts {
		lock, err := s.tryTake(name, owner)
		if !errors.As(err, &held) {
			return lock, err
		}
		if r := held.Holder; r.ReleasedAt == nil && r.BootID == s.self.BootID && process.Lives(r.PID, r.PIDStart) {
			return nil, err
		}
		select {
		case <-time.After(takePause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, held
}

func (s *Store) tryTake(name string, owner engine.Owner) (lock *Lock, err error) {
	file, _, err := s.locks.openRegular(name, os.O_RDWR|os.O_CREATE, privateFile)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, flock.Release(file))
		}
	}()
	got, err := flock.Try(file)
	if err != nil {
		return nil, err
	}
	before, err := readRecord(file)
	if err != nil {
		return nil, err
	}
	current, err := s.locks.same(name, file)
	if err != nil {
		return nil, err
	}
	held := !current || !got || s.holdsFromAfar(before)
	if !held {
		held, err = s.rests(name, before)
	}
	if err != nil {
		return nil, err
	}
	if held {
		return nil, &HeldError{before}
	}
	record := s.newRecord(owner, max(before.Epoch, owner.AfterEpoch)+1)
	// The epoch must not go back after a power cut, because runs are saved under it.
	if err := errors.Join(writeRecord(file, record), file.Sync()); err != nil {
		return nil, writeError(path.Join(locksDir, name), err)
	}
	lock = &Lock{store: s, name: name, file: file, record: record, lost: make(chan struct{}), stop: make(chan struct{})}
	go lock.renewUntilReleased()
	return lock, nil
}
