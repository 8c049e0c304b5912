package flock_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"signalbox/internal/flock"
)

// opened opens the same file for each of count holders.
func opened(t *testing.T, count int) (files []*os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	for range count {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		files = append(files, f)
	}
	return files
}

func mustTry(t *testing.T, try func(*os.File) (bool, error), f *os.File, want bool) {
	t.Helper()
	if got, err := try(f); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestALockHasOneHolderOrManySharing(t *testing.T) {
	t.Parallel()
	f := opened(t, 3)
	mustTry(t, flock.Try, f[0], true)
	mustTry(t, flock.Try, f[1], false)
	mustTry(t, flock.TryShared, f[1], false)
	if err := flock.Free(f[0]); err != nil {
		t.Fatal(err)
	}
	mustTry(t, flock.TryShared, f[1], true)
	mustTry(t, flock.TryShared, f[2], true)
	mustTry(t, flock.Try, f[0], false)
}

func TestAReleasedLockIsFreeThoughAChildHasItsFile(t *testing.T) {
	t.Parallel()
	f := opened(t, 2)
	mustTry(t, flock.Try, f[0], true)
	child := exec.CommandContext(t.Context(), "cat") // has the file, as every child does between fork and exec
	child.ExtraFiles = f[:1]
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	mustTry(t, flock.Try, f[1], false)
	if err := flock.Release(f[0]); err != nil {
		t.Fatal(err)
	}
	mustTry(t, flock.Try, f[1], true)
	if err := errors.Join(in.Close(), child.Wait()); err != nil {
		t.Error(err)
	}
}

func TestAWaiterGetsTheLockOrGivesUp(t *testing.T) {
	t.Parallel()
	f := opened(t, 4)
	mustTry(t, flock.Try, f[0], true)
	ctx, cancel := context.WithCancel(t.Context())
	gave := make(chan error)
	go func() { gave <- flock.Wait(ctx, f[1]) }()
	got := make(chan error)
	go func() { got <- flock.Wait(t.Context(), f[2]) }()
	cancel()
	if err := <-gave; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up with %v", err)
	}
	if err := flock.Release(f[0]); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil { // also when the kernel hands it to the one that gave up first
		t.Fatal(err)
	}
	mustTry(t, flock.Try, f[3], false)
}
