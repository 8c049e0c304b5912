package clone_test

import (
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		unsandboxed bool
		warm        clone.Way
		seeded      bool // there is a snapshot, so new environments start from it
		part        environmenttest.Part
	}{
		"in bubblewrap":                    {warm: clone.Off},
		"in bubblewrap, new ones overlaid": {warm: clone.Overlay, seeded: true},
		"in bubblewrap, kept by overlay":   {warm: clone.Overlay, part: environmenttest.Restore},
		"in bubblewrap, new ones private":  {warm: clone.Private, seeded: true},
		"in bubblewrap, kept privately":    {warm: clone.Private, part: environmenttest.Restore},
		"in bubblewrap, HOME kept":         {warm: clone.Home, part: environmenttest.Restore},
		"in bubblewrap, kept by sharing":   {warm: clone.Shared, part: environmenttest.Restore},
		"in bubblewrap, kept by copying":   {warm: clone.Copy, part: environmenttest.Restore},
		"without a sandbox":                {warm: clone.Copy, unsandboxed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.warm == clone.Overlay {
				needsRoot(t)
			}
			environmenttest.Run(t, test.part, func(t *testing.T) environmenttest.Harness {
				p := environmenttest.NewProject(t)
				c := config(t, p)
				c.Unsandboxed, c.Warm, c.Cache = test.unsandboxed, test.warm, 1<<30
				d := clone.New(c)
				if test.seeded {
					seed(t, d, p)
				}
				return environmenttest.Harness{Driver: d, Project: p, Isolated: !test.unsandboxed, Keeps: test.warm != clone.Off, Folder: found, Unmoving: test.warm == clone.Private,
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

// seed takes a snapshot in an environment that is removed again.
func seed(t testing.TB, d *clone.Driver, p *environmenttest.Project) {
	t.Helper()
	spec := p.Spec("seed")
	e, err := d.Make(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Restore(t.Context(), p.Commit, "seed"); err != nil {
		t.Fatal(err)
	}
	expect(t, e, `mkdir -p build/old src/build && echo seed >build/old/seed && echo seed >src/build/seed && echo seed >"$HOME/seed"`, "")
	if err := errors.Join(e.Snapshot(t.Context(), "seed"), d.Remove(t.Context(), spec)); err != nil {
		t.Fatal(err)
	}
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
