package clone_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// Each variant runs the part of the suite in which it can differ from the others. Shared is Copy for every folder of the suite:
// TestSharedFoldersCannotBeWritten has the others.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		unsandboxed bool
		warm        clone.Way
		seeded      bool // there is a snapshot, so new environments start from it
		part        environmenttest.Part
	}{
		"in bubblewrap":                    {warm: clone.Off},
		"in bubblewrap, new ones overlaid": {warm: clone.Overlay, seeded: true, part: environmenttest.Files}, // mounted before any command starts
		"in bubblewrap, new ones private":  {warm: clone.Private, seeded: true, part: environmenttest.New},   // commands start by nsenter
		"in bubblewrap, kept privately":    {warm: clone.Private, part: environmenttest.Restore},
		"in bubblewrap, HOME kept":         {warm: clone.Home, part: environmenttest.Restore},
		"in bubblewrap, kept by copying":   {warm: clone.Copy, part: environmenttest.Restore},
		"without a sandbox":                {warm: clone.Copy, unsandboxed: true},
	} {
		if test.part == environmenttest.Restore && test.warm == clone.Private && os.Geteuid() == 0 {
			continue // root never keeps so: TestAsAUserWhoIsNotRoot runs it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.warm == clone.Overlay {
				needsRoot(t)
			}
			environmenttest.Run(t, test.part, func(t *testing.T) environmenttest.Harness {
				p := environmenttest.NewProject(t)
				c := config(t, p)
				c.Unsandboxed, c.Warm, c.Cache = test.unsandboxed, test.warm, 1<<30
				if test.seeded {
					seed(t, p)
				}
				folder := func(t *testing.T, e environment.Environment) string {
					if layers, err := filepath.Glob(filepath.Join(state(p), "*", "tree-layer")); test.seeded && len(layers) == 0 {
						t.Errorf("the environment isn't over the snapshot (%v)", err)
					}
					return found(t, e)
				}
				return environmenttest.Harness{Driver: clone.New(c), Project: p, Isolated: !test.unsandboxed, Keeps: test.warm != clone.Off, Folder: folder, Unmoving: test.warm == clone.Private,
					Sample: *whole != "all" && (test.seeded || test.unsandboxed)}
			})
		})
	}
}

func found(t *testing.T, e environment.Environment) string {
	t.Helper()
	dir, err := e.(*clone.Environment).Folder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// needsRoot skips a test if overlays can't be mounted.
func needsRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting an overlay takes root")
	}
}

// seed gives a project a snapshot, whose environment is gone: a copy of the first one, which needs no sandbox.
func seed(t testing.TB, p *environmenttest.Project) {
	t.Helper()
	seeds.Do(func() {
		first := environmenttest.NewProject(t)
		c := config(t, first)
		c.Warm, c.Cache = clone.Copy, 1<<30
		e := madeAs(t, clone.New(c), first.Spec("seed"))
		if _, err := e.Restore(t.Context(), first.Commit, "seed"); err != nil {
			t.Fatal(err)
		}
		expect(t, e, `mkdir -p build/old src/build && echo seed >build/old/seed && echo seed >src/build/seed && echo seed >"$HOME/seed"`, "")
		if err := e.Snapshot(t.Context(), "seed"); err != nil {
			t.Fatal(err)
		}
		seeds.files = environmenttest.ReadFiles(t, filepath.Join(state(first), "cache"))
	})
	if err := os.CopyFS(filepath.Join(state(p), "cache"), seeds.files); err != nil || len(seeds.files) == 0 {
		t.Fatal(len(seeds.files), err)
	}
}

var seeds struct {
	sync.Once
	files fstest.MapFS
}

// config configures a driver for a project, with a clock that never shows the same second twice.
func config(t testing.TB, p *environmenttest.Project) clone.Config {
	t.Helper()
	repo, err := git.Open(t.Context(), process.Host{}, p.Root)
	if err != nil {
		t.Fatal(err)
	}
	var seconds atomic.Int64
	return clone.Config{
		Repo: repo, Exec: process.Host{}, Root: p.Root,
		State:     state(p),
		Variables: environmenttest.Variables,
		Identity:  environmenttest.Identity,
		Clock:     func() time.Time { return time.Unix(1767323045+seconds.Add(1), 0) },
	}
}
