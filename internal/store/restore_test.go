package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/health"
	"signalbox/internal/store/strict"
)

func TestBrokenHealthIsRestoredAndItsBytesAreKept(t *testing.T) {
	t.Parallel()
	sound, older := `{"run_count":2,"created_at":"2026-01-01T00:00:00Z"}`, `{"run_count":1,"created_at":"2026-01-01T00:00:00Z"}`
	for name, c := range map[string]struct {
		state, backup string
		want          int
		fromBackup    bool
		sound         bool
	}{
		"sound":                      {sound, older, 2, false, true},
		"truncated, with a backup":   {sound[:20], older, 1, true, false},
		"empty, with a backup":       {"", older, 1, true, false},
		"zeros, with no backup":      {strings.Repeat("\x00", 64), "", 0, false, false},
		"broken, and its backup too": {"{", older[:9], 0, false, false},
		"oversized, with a backup":   {strings.Repeat(" ", strict.MaxSize+1), older, 1, true, false},
	} {
		s := openAt(t, Config{Root: t.TempDir(), Clock: func() time.Time { return time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC) }})
		path := filepath.Join(s.path, "state.json")
		write(t, s, "state.json", c.state)
		if c.backup != "" {
			write(t, s, "state.json.bak", c.backup)
		}
		looked, found, err := s.Health().LoadOrBackup(t.Context())
		if err != nil || looked.RunCount != c.want || found.Backup != c.fromBackup || (found.Broken == nil) != c.sound {
			t.Errorf("%s: looking gives %+v, %+v, %v", name, looked, found, err)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != c.state {
			t.Errorf("%s: looking changed the file", name)
		}
		done, err := s.Health().Restore(t.Context())
		if err != nil || done.Backup != c.fromBackup || (done.Broken == nil) != c.sound {
			t.Errorf("%s: restored as %+v, %v", name, done, err)
		}
		if after, err := s.Health().Load(t.Context()); err != nil || after.RunCount != c.want {
			t.Errorf("%s: is %+v, %v", name, after, err)
		}
		kept, err := os.ReadFile(filepath.Join(s.path, "state.json.broken-20261120T010203Z"))
		if c.sound != os.IsNotExist(err) || !c.sound && string(kept) != c.state {
			t.Errorf("%s: kept %d bytes, %v", name, len(kept), err)
		}
		write(t, s, "state.json", "broken again")
		if again, err := s.Health().Restore(t.Context()); err != nil || again.Kept == done.Kept {
			t.Errorf("%s: the second broken file went to %q after %q, %v", name, again.Kept, done.Kept, err)
		}
	}
}

// Whatever is broken, no total shrinks: neither before the restoration is killed, nor after.
func TestTotalsNeverShrinkWhateverIsBroken(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string][]string{"the document": {"state.json"}, "both": {"state.json", "state.json.bak"}} {
		s := openStore(t)
		want := health.Totals{RunCount: 7, TotalErrorsDetected: 5, TotalFixesAttempted: 4, TotalFixesSucceeded: 2}
		if err := s.Health().Update(t.Context(), func(h *health.State) error { h.RestoreTotals(want); return nil }); err != nil {
			t.Fatal(err)
		}
		for _, file := range broken {
			write(t, s, file, `{"run_count": 7, "retry`)
		}
		if _, err := s.Health().Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		h, err := s.Health().Load(t.Context())
		got := health.Totals{RunCount: h.RunCount, TotalErrorsDetected: h.TotalErrorsDetected, TotalFixesAttempted: h.TotalFixesAttempted, TotalFixesSucceeded: h.TotalFixesSucceeded}
		if err != nil || got != want {
			t.Errorf("%s broken: %+v, %v", name, got, err)
		}
		if now, backup := read(t, s, "state.json"), read(t, s, "state.json.bak"); now != backup {
			t.Errorf("%s broken: the backup is not what was restored: %s", name, backup)
		}
	}
}

func TestHealthThatIsGoneIsRestoredFromItsBackup(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	if h, found, err := s.Health().LoadOrBackup(t.Context()); !errors.Is(err, fs.ErrNotExist) || found.Broken != nil {
		t.Errorf("nothing is there: %+v, %+v, %v", h, found, err)
	}
	write(t, s, "state.json.bak", `{"run_count":7,"created_at":"2026-01-01T00:00:00Z"}`)
	if h, found, err := s.Health().LoadOrBackup(t.Context()); err != nil || h.RunCount != 7 || found.Broken == nil || !found.Backup {
		t.Errorf("looking gives %+v, %+v, %v", h, found, err)
	}
	if done, err := s.Health().Restore(t.Context()); err != nil || done.Broken == nil || !done.Backup || done.Kept != "" {
		t.Errorf("restored as %+v, %v", done, err)
	}
	if h, err := s.Health().Load(t.Context()); err != nil || h.RunCount != 7 {
		t.Errorf("it is %+v, %v", h, err)
	}
}

func TestHealthThatIsALinkIsReplacedAndItsTargetLeftAlone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(s.path, "state.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Health().Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Health().Update(t.Context(), func(h *health.State) error { h.RunCount = 3; return nil }); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "precious" {
		t.Errorf("the target holds %q, %v", data, err)
	}
}
