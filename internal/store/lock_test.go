package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"signalbox/internal/engine"

	"golang.org/x/sys/unix"
)

func hold(ctx context.Context, s *Store, _ []string) error {
	lock, err := s.LockRequest(ctx, "RQ-1", engine.Owner{Name: "holder", RunID: testRef.RunID})
	if err != nil {
		return err
	}
	return errors.Join(sayAndStay(fmt.Sprint(lock.Epoch())), lock.Release())
}

// holdWithChild holds the lock and says the pid of a child that outlives it.
func holdWithChild(ctx context.Context, s *Store, _ []string) error {
	if _, err := s.LockRequest(ctx, "RQ-1", engine.Owner{Name: "holder"}); err != nil {
		return err
	}
	child := exec.Command("sleep", "600")
	if err := child.Start(); err != nil {
		return err
	}
	return sayAndStay(strconv.Itoa(child.Process.Pid))
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func lockRequest(t *testing.T, s *Store, owner engine.Owner) *Lock {
	t.Helper()
	lock, err := s.LockRequest(t.Context(), "RQ-1", owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	return lock.(*Lock)
}

func TestALockIsTakenOverAfterItsHolderWasKilled(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	holder := another(t, s, "hold")
	if epoch := startUntilSaid(t, holder); epoch != "1" {
		t.Fatalf("first epoch %s", epoch)
	}
	_, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{})
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.Owner != "holder" || held.Holder.PID != holder.Process.Pid || held.Holder.RunID != testRef.RunID {
		t.Fatalf("got %v", err)
	}
	holders, err := s.Holders(t.Context())
	if err != nil || len(holders) != 1 || holders[0].Name != "request-RQ-1" {
		t.Fatalf("%v, %v", holders, err)
	}
	kill(t, holder)
	if holders, err := s.Holders(t.Context()); err != nil || len(holders) != 0 {
		t.Fatalf("a dead holder is listed: %v, %v", holders, err)
	}
	if lock := lockRequest(t, s, engine.Owner{Name: "next"}); lock.Epoch() != 2 || !lock.View().Held {
		t.Errorf("epoch %d", lock.Epoch())
	}
}

func TestAChildDoesNotInheritTheLock(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	holder := another(t, s, "hold with child")
	pid, err := strconv.Atoi(startUntilSaid(t, holder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	kill(t, holder)
	if err := unix.Kill(pid, 0); err != nil {
		t.Fatalf("the child does not live: %v", err)
	}
	lockRequest(t, s, engine.Owner{})
}

// A child has the descriptor from its fork until its exec, which closes it.
func TestAReleasedLockIsFreeWhileAChildIsBeingStarted(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	lock := lockRequest(t, s, engine.Owner{})
	inherited, err := unix.Dup(int(lock.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(inherited) })
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if holders, err := s.Holders(t.Context()); err != nil || len(holders) != 0 {
		t.Errorf("held by %v, %v", holders, err)
	}
	lockRequest(t, s, engine.Owner{})
}

func TestTheEpochNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	name := filepath.Join(s.path, ".signalbox/locks/request-RQ-1.lock")
	want := int64(0)
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.Truncate(name, 30) },
		func() error { return os.Truncate(name, 0) },
		func() error { return os.Remove(name) },
	} {
		lock := lockRequest(t, s, engine.Owner{AfterEpoch: want})
		if lock.Epoch() <= want {
			t.Fatalf("epoch %d after %d", lock.Epoch(), want)
		}
		want = lock.Epoch()
		if err := errors.Join(lock.Release(), damage()); err != nil {
			t.Fatal(err)
		}
	}
	torn := lockRequest(t, s, engine.Owner{AfterEpoch: 41})
	_ = torn.Release()
	if err := os.Truncate(name, 30); err != nil {
		t.Fatal(err)
	}
	if lock := lockRequest(t, s, engine.Owner{}); lock.Epoch() != 43 {
		t.Errorf("epoch %d after a torn record of 42", lock.Epoch())
	}
}

func TestADeletedLockFileEndsTheFormerHolder(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	former := lockRequest(t, s, engine.Owner{Name: "former"})
	w, run := createRun(t, s)
	run.Details.Epoch = former.Epoch()
	save(t, w, &run)
	if err := os.Remove(filepath.Join(s.path, ".signalbox/locks/request-RQ-1.lock")); err != nil {
		t.Fatal(err)
	}
	next := lockRequest(t, s, engine.Owner{Name: "next", AfterEpoch: run.Details.Epoch})
	w.unseen(t)
	w2, run2 := openRun(t, s)
	run2.Details.Epoch = next.Epoch()
	save(t, w2, &run2)
	if err := former.Extend(); !errors.Is(err, ErrLockLost) {
		t.Fatalf("renewed: %v", err)
	}
	select {
	case <-former.Lost():
	default:
		t.Error("the former holder is not told")
	}
	if err := w.Save(t.Context(), &run, ""); !errors.Is(err, engine.ErrFenced) {
		t.Errorf("the former holder saved: %v", err)
	}
	if err := next.Extend(); err != nil {
		t.Error(err)
	}
}

func TestAWaiterOnADeletedLockFileWaitsForTheNewOne(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	newLock := func() *fileLock {
		l := &fileLock{folder: s.locks, name: "document.test.lock", perm: privateFile}
		t.Cleanup(l.close)
		return l
	}
	first, second, waiter := newLock(), newLock(), newLock()
	if err := first.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The waiter has the file open, as one who waits has.
	file, err := s.locks.open(waiter.name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	waiter.file = file
	if err := s.locks.unlink(waiter.name); err != nil {
		t.Fatal(err)
	}
	if err := second.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := waiter.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("two hold the lock: %v", err)
	}
	second.close()
	if err := waiter.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnAbandonedWaitLeavesNoLock(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	holder := &fileLock{folder: s.locks, name: "document.test.lock", perm: privateFile}
	waiter := &fileLock{folder: s.locks, name: "document.test.lock", perm: privateFile}
	if err := holder.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := waiter.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	holder.close()
	waitForNoDescriptor(t, filepath.Join(s.path, locksDir, holder.name))
	next := &fileLock{folder: s.locks, name: "document.test.lock", perm: privateFile}
	defer next.close()
	soon, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	if err := next.acquire(soon); err != nil {
		t.Fatalf("the abandoned wait holds the lock: %v", err)
	}
}

// waitForNoDescriptor polls, because nothing signals that a descriptor was closed.
func waitForNoDescriptor(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; runtime.Gosched() {
		open := 0
		fds, _ := filepath.Glob("/proc/self/fd/*")
		for _, fd := range fds {
			if target, _ := os.Readlink(fd); target == name {
				open++
			}
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors of %s stay open", open, name)
		}
	}
}

func TestSlotsAreGivenUntilNoneIsFree(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	var locks []engine.Lock
	for i := range 2 {
		lock, _, err := s.TakeSlot(t.Context(), 2, engine.Owner{Name: fmt.Sprint(i)})
		if err != nil || lock == nil {
			t.Fatal(err)
		}
		locks = append(locks, lock)
	}
	lock, holders, err := s.TakeSlot(t.Context(), 2, engine.Owner{})
	if err != nil || lock != nil || len(holders) != 2 || holders[1] != "1" {
		t.Fatalf("%v, %v, %v", lock, holders, err)
	}
	if err := locks[0].Release(); err != nil {
		t.Fatal(err)
	}
	lock, _, err = s.TakeSlot(t.Context(), 2, engine.Owner{})
	if err != nil || lock == nil || !strings.HasSuffix(lock.View().Path, "slot-0.lock") {
		t.Fatalf("%v, %v", lock, err)
	}
	_ = lock.Release()
	_ = locks[1].Release()
}

func TestAnotherHostsLockIsHonouredUntilItsTimeIsOver(t *testing.T) {
	t.Parallel()
	now := testStart
	s := openAt(t, Config{Root: t.TempDir(), Clock: func() time.Time { return now }})
	record := s.newRecord(engine.Owner{Name: "afar"}, 7)
	for name, c := range map[string]struct {
		host, boot string
		shared     bool
		after      time.Duration
		released   bool
		honoured   bool
	}{
		"another host":                           {host: "afar", boot: "x", honoured: true},
		"another host after its time":            {host: "afar", boot: "x", after: 901 * time.Second},
		"another host that released":             {host: "afar", boot: "x", released: true},
		"this host before its restart":           {host: s.self.Host, boot: "x"},
		"a namesake on a shared file system":     {host: s.self.Host, boot: "x", shared: true, honoured: true},
		"a container of this machine":            {host: "container", boot: s.self.BootID},
		"another host after the clock went back": {host: "afar", boot: "x", after: -time.Hour, honoured: true},
	} {
		other := *s
		other.shared = c.shared
		other.clock = func() time.Time { return now.Add(c.after) }
		r := record
		r.Host, r.BootID = c.host, c.boot
		if c.released {
			r.ReleasedAt = &now
		}
		if got := other.holdsFromAfar(r); got != c.honoured {
			t.Errorf("%s: honoured %v", name, got)
		}
	}
}

func TestALockRenewsItselfUntilItIsReleased(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	synctest.Test(t, func(t *testing.T) {
		s.clock = time.Now
		lock, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{TTL: 9 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		start := lock.(*Lock).record.AcquiredAt
		time.Sleep(10 * time.Second) // of the bubble's clock, which stands still otherwise
		synctest.Wait()
		if record, err := readRecord(lock.(*Lock).file); err != nil || record.RenewedAt.Sub(start) != 9*time.Second {
			t.Errorf("renewed at %s after %s", record.RenewedAt, start)
		}
		if err := s.locks.unlink(lock.(*Lock).name); err != nil {
			t.Fatal(err)
		}
		select {
		case <-lock.Lost():
		case <-time.After(time.Minute):
			t.Error("the loss of the lock went unnoticed")
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	})
}
