package clone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
)

func TestTheLeastRecentlyUsedSnapshotIsDeletedFirstAndOneInUseNever(t *testing.T) {
	eachWay(t, func(t *testing.T, p *environmenttest.Project, d *clone.Driver) {
		keep := func(id, key string) {
			t.Helper()
			e, err := d.Make(t.Context(), p.Spec(id))
			if err != nil {
				t.Fatal(err)
			}
			if warm, err := e.Restore(t.Context(), p.Commit, key); err != nil || warm {
				t.Fatal(warm, err)
			}
			expect(t, e, setup, "")
			if err := e.Snapshot(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"one", "two", "three"} {
			keep(id, id)
		}
		for _, id := range []string{"one", "two"} {
			if err := d.Remove(t.Context(), p.Spec(id)); err != nil {
				t.Fatal(err)
			}
		}
		e, err := d.Make(t.Context(), p.Spec("four"))
		if err != nil {
			t.Fatal(err)
		}
		if warm, err := e.Restore(t.Context(), p.Commit, "one"); err != nil || !warm {
			t.Fatal(warm, err)
		}
		if err := d.Remove(t.Context(), p.Spec("four")); err != nil {
			t.Fatal(err)
		}
		list, err := d.List(t.Context())
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		var names []string
		for _, entry := range list {
			names = append(names, entry.Key+strings.Join(entry.Users, ""))
		}
		if want := "one threethree two"; strings.Join(names, " ") != want {
			t.Errorf("listed %q, want %q", names, want)
		}
		for _, step := range []struct {
			limit int64
			gone  string
		}{{list[0].Bytes * 3, ""}, {list[0].Bytes * 2, "two"}, {1, "one"}, {0, ""}} {
			for _, dry := range []bool{true, false} {
				gone, err := d.Prune(t.Context(), step.limit, dry)
				if err != nil {
					t.Fatal(err)
				}
				names := ""
				for _, entry := range gone {
					names += entry.Key
				}
				if names != step.gone {
					t.Errorf("limit %d deletes %q, want %q", step.limit, names, step.gone)
				}
			}
		}
		expect(t, madeAs(t, d, p.Spec("three")), verify, verified)
		if left, err := filepath.Glob(filepath.Join(state(p), "cache", "*")); err != nil || len(left) != 2 { // and the lock
			t.Errorf("left are %q, %v", left, err)
		}
	})
}

func madeAs(t testing.TB, d *clone.Driver, s environment.Spec) environment.Environment {
	t.Helper()
	e, err := d.Make(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestASnapshotLargerThanTheCacheIsNotKept(t *testing.T) {
	t.Parallel()
	p, _ := keeping(t, clone.Auto)
	c := keepingConfig(t, p, clone.Auto)
	c.Cache = 4096
	d := clone.New(c)
	e := restored(t, d, p.Spec("site"), false)
	expect(t, e, setup, "")
	if err := e.Snapshot(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	expect(t, e, verify, verified)
	if found := snapshots(t, p); len(found) != 0 {
		t.Errorf("kept %q", found)
	}
}

// The fingerprint changes with the parts of the machine that a setup depends on.
func TestTheFingerprintKnowsTheMachinesTools(t *testing.T) {
	t.Parallel()
	p := environmenttest.NewProject(t)
	bin := t.TempDir()
	var passed []string
	fingerprint := func(id string) string {
		t.Helper()
		c := config(t, p)
		c.Variables = append(passed[:len(passed):len(passed)], "PATH="+bin+":/usr/bin:/bin")
		return madeAs(t, clone.New(c), p.Spec(id)).Fingerprint()
	}
	seen := map[string]string{fingerprint("one"): "at first"}
	if _, ok := seen[fingerprint("two")]; !ok {
		t.Error("another environment has another fingerprint")
	}
	for i, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n"), 0o700) },
		func() error { return os.Chtimes(filepath.Join(bin, "node"), time.Unix(1, 0), time.Unix(1, 0)) },
		func() error { return os.WriteFile(filepath.Join(bin, "node"), []byte("#!/bin/sh\n#\n"), 0o700) },
		func() error { return os.WriteFile(filepath.Join(p.Root, ".env"), []byte("KEY=other\n"), 0o600) },
		func() error { passed = []string{"MY_TOKEN=one"}; return nil },
		func() error { passed = []string{"MY_TOKEN=two"}; return nil },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		now := fingerprint(fmt.Sprintf("change-%d", i))
		if before, ok := seen[now]; ok {
			t.Errorf("change %d has the fingerprint of %s", i, before)
		}
		seen[now] = fmt.Sprintf("change %d", i)
	}
}

// A clone is rebuilt if a command ran in it, even if that changed nothing, and only then.
func TestACloneIsRebuiltOnceACommandRanInIt(t *testing.T) {
	t.Parallel()
	p, d := keeping(t, clone.Copy)
	e := made(t, d, p)
	if err := e.Reset(t.Context(), p.Commit, "refs/signalbox/kept/42"); err != nil {
		t.Fatal(err)
	}
	inode := func() uint64 {
		t.Helper()
		var s unix.Stat_t
		if err := unix.Stat(folder(p)+"/README.md", &s); err != nil {
			t.Fatal(err)
		}
		return s.Ino
	}
	hold, err := os.Open(folder(p) + "/README.md") // while it is open, no other file gets its inode
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hold.Close() }()
	built := inode()
	restored(t, d, p.Spec("site"), false)
	if inode() != built {
		t.Error("a clone in which nothing ran was rebuilt")
	}
	expect(t, e, "true", "")
	restored(t, d, p.Spec("site"), false)
	if inode() == built {
		t.Error("a clone in which a command ran was kept")
	}
	e.(*clone.Environment).HostFolders()
	again, err := os.Open(folder(p) + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	built = inode()
	restored(t, d, p.Spec("site"), false)
	if inode() == built {
		t.Error("a clone that was shown to others was kept")
	}
}
