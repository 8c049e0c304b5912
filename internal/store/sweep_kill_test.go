package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each update is killed right before each of its system calls, the one that
// acknowledges it included.
func TestAnUpdateKilledAtAnySystemCallIsThereOrNot(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	for name := range sweptUpdates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := pointsOf(t, prepare(t, name).s, name, "fsync")
			landed, left := 0, 0
			for _, p := range points {
				before := prepare(t, name)
				got := traced(t, before.s, name, 0, "-e", "trace="+p.call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n))
				if !got.killed || len(got.calls) != p.n || got.said != "" {
					t.Errorf("%s: the kill did not land: said %q after %q", p, got.said, got.calls)
					continue
				}
				landed++
				left += len(temporariesIn(t, before.s))
				before.mustGoOn(t, p.String(), false)
			}
			if landed != len(points) {
				t.Errorf("%d of %d kills landed", landed, len(points))
			}
			t.Logf("%d kills, %d temporary files left and swept", landed, left)
		})
	}
}

// prepared is a project in the state that an update begins from.
type prepared struct {
	sweptUpdate
	s     *Store
	count int
	old   string
}

func prepare(t *testing.T, update string) prepared {
	t.Helper()
	p := prepared{sweptUpdate: sweptUpdates[update], s: openStore(t)}
	if p.before != nil {
		p.before(t, p.s)
	}
	p.count, p.old = p.counted(t, update), p.content(t)
	return p
}

func (p prepared) counted(t *testing.T, at string) int {
	t.Helper()
	n, err := p.sweptUpdate.count(t.Context(), p.s)
	if err != nil {
		t.Fatalf("%s: count: %v", at, err)
	}
	return n
}

// mustGoOn starts on what an update left that was cut off at a call: it is there
// or not, the next one works, and nothing else stays behind.
func (p prepared) mustGoOn(t *testing.T, call string, acknowledged bool) {
	t.Helper()
	p.s = openAt(t, Config{Root: p.s.path})
	now := p.content(t)
	n := p.counted(t, call)
	switch {
	case n != p.count && n != p.count+1 || acknowledged && n != p.count+1:
		t.Errorf("%s: %d became %d, acknowledged: %t", call, p.count, n, acknowledged)
	case n == p.count && now != p.old:
		t.Errorf("%s: %s became %s", call, p.old, now)
	}
	updated(p.begin)(t, p.s)
	if after := p.counted(t, call); after != n+1 {
		t.Errorf("%s: the next update made %d of %d", call, after, n)
	}
	if left := temporariesIn(t, p.s); len(left) > 0 {
		t.Errorf("%s: left %q", call, left)
	}
}

func (p prepared) content(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(p.s.path, p.file))
	if p.file == "" || os.IsNotExist(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func temporariesIn(t *testing.T, s *Store) (found []string) {
	t.Helper()
	err := filepath.WalkDir(s.path, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".tmp-") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
