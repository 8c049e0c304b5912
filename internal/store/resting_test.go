package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/engine"
)

const manyLocks = 300

// restMany takes more locks than it may have files, lets them rest, and says the epoch of the last.
func restMany(ctx context.Context, s *Store, _ []string) error {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}); err != nil {
		return err
	}
	var last engine.Lock
	for i := range manyLocks {
		lock, err := s.LockRequest(ctx, fmt.Sprintf("RQ-%d", i+1), engine.Owner{Name: "holder"})
		if err != nil {
			return err
		}
		lock.Rest()
		last = lock
	}
	return sayAndStay(fmt.Sprint(last.Epoch()))
}

func TestLocksThatRestAreHeldWithoutADescriptorEach(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	holder := another(t, s, "rest many")
	startUntilSaid(t, holder)
	var held *HeldError
	if _, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{}); !errors.As(err, &held) || held.Holder.PID != holder.Process.Pid {
		t.Fatalf("got %v", err)
	}
	if holders, err := s.Holders(t.Context()); err != nil || len(holders) != manyLocks {
		t.Fatalf("%d holders, %v", len(holders), err)
	}
	kill(t, holder)
	if holders, err := s.Holders(t.Context()); err != nil || len(holders) != 0 {
		t.Fatalf("a dead holder is listed: %v, %v", holders, err)
	}
	if lock := lockRequest(t, s, engine.Owner{Name: "next"}); lock.Epoch() != 2 {
		t.Errorf("epoch %d", lock.Epoch())
	}
}

func TestALockRestsAndWakes(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	lock := lockRequest(t, s, engine.Owner{Name: "first"})
	refused := func() {
		t.Helper()
		if _, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{}); !errors.Is(err, engine.ErrHeld) {
			t.Fatalf("taken twice: %v", err)
		}
	}
	for range 2 {
		lock.Rest()
		refused()
		if err := lock.Extend(); err != nil {
			t.Fatal(err)
		}
		if err := lock.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		refused()
	}
	lock.Rest()
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if next := lockRequest(t, s, engine.Owner{Name: "next"}); next.Epoch() != 2 {
		t.Errorf("epoch %d", next.Epoch())
	}
}

func TestALockThatCannotRestStaysHeld(t *testing.T) {
	t.Parallel()
	for name, hinder := range map[string]func(s *Store, file string) error{
		"no file can be made": func(_ *Store, file string) error { return os.MkdirAll(file, 0o700) },
		"the file was removed": func(s *Store, file string) error {
			other, err := s.LockRequest(t.Context(), "RQ-2", engine.Owner{})
			if err != nil {
				return err
			}
			other.Rest()
			return os.Remove(file)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openStore(t)
			if err := hinder(s, filepath.Join(s.path, locksDir, restingFile)); err != nil {
				t.Fatal(err)
			}
			lock := lockRequest(t, s, engine.Owner{Name: "first"})
			lock.Rest()
			if _, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{}); !errors.Is(err, engine.ErrHeld) {
				t.Errorf("while it rests: %v", err)
			}
			holders, err := s.Holders(t.Context())
			if err != nil || len(holders) != 1 || !strings.Contains(holders[0].Name, "RQ-1") {
				t.Errorf("%+v, %v", holders, err)
			}
			if err := errors.Join(lock.Wake(t.Context()), lock.Extend(), lock.Release()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALockThatWasTakenWhileItRestedDoesNotWake(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	lock := lockRequest(t, s, engine.Owner{Name: "former"})
	lock.Rest()
	if err := errors.Join(os.RemoveAll(filepath.Join(s.path, locksDir)), os.Mkdir(filepath.Join(s.path, locksDir), 0o700)); err != nil {
		t.Fatal(err)
	}
	next := lockRequest(t, openAt(t, Config{Root: s.path}), engine.Owner{Name: "next", AfterEpoch: lock.Epoch()})
	if err := lock.Wake(t.Context()); !errors.Is(err, engine.ErrLost) || strings.Contains(err.Error(), "\n") {
		t.Errorf("woke: %v", err)
	}
	select {
	case <-lock.Lost():
	default:
		t.Error("the former holder is not told")
	}
	if err := errors.Join(lock.Release(), next.Extend()); err != nil {
		t.Error(err)
	}
}
