package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/store"
)

// publish notes in the project's folder what it was told, one state a line.
func publish(_ context.Context, st *store.Store, info Info) error {
	word := "runs"
	if info.Outcome != nil {
		word = string(info.Outcome.Kind) + " by " + string(info.Outcome.Source)
	}
	path, err := st.Abs("published")
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(word + "\n")
	return errors.Join(err, file.Close())
}

// published returns the states that were published. The host and a waiter may both publish the same one.
func published(t *testing.T, s *Sessions) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.Root, "published"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.Join(slices.Compact(strings.SplitAfter(strings.ReplaceAll(string(text), "\n", "; "), "; ")), ""))
}

func TestWhatASessionCameToIsPublishedBeforeAnybodyIsTold(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	s.Publish = publish
	x := started(t, s, shell(42, Terminal, "read line; echo '"+done+"'; read line"))
	if got := published(t, s); got != "runs;" {
		t.Errorf("at its start %q is published", got)
	}
	if err := x.Nudge(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	waited(t, x)
	if got := published(t, s); got != "runs; complete by marker;" {
		t.Errorf("who waited finds %q published", got)
	}
	if err := x.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := published(t, s); got != "runs; complete by marker;" {
		t.Errorf("after its end %q is published", got)
	}
}

func TestTheEndOfAKilledHostIsPublishedByWhoFindsIt(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	s.Publish = publish
	x := started(t, s, shell(42, Terminal, "read line"))
	info, err := x.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(info.HostPID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, info.HostPID)
	for range 2 {
		if info, err = x.Info(t.Context()); err != nil || info.Outcome == nil || info.Outcome.Source != Gone {
			t.Fatalf("found %+v, %v", info, err)
		}
	}
	if got := published(t, s); got != "runs; error by gone;" {
		t.Errorf("%q is published", got)
	}
}

func TestARemovedSessionIsForgottenAndARunningOneIsNotRemoved(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	x := started(t, s, shell(42, Terminal, "read line"))
	if err := x.Remove(t.Context()); !errors.Is(err, ErrRunning) {
		t.Errorf("removing a running one: %v", err)
	}
	if err := x.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), Name("", 42)); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening a removed one: %v", err)
	}
	if list, err := s.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("listed: %+v, %v", list, err)
	}
	started(t, s, shell(42, Terminal, "read line")) // its lock was left as it was
}
