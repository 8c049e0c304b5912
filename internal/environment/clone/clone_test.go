package clone_test

import (
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, unsandboxed := range map[string]bool{"in bubblewrap": false, "without a sandbox": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			environmenttest.Run(t, func(t *testing.T) environmenttest.Harness {
				p := environmenttest.NewProject(t)
				c := config(t, p)
				c.Unsandboxed = unsandboxed
				return environmenttest.Harness{Driver: clone.New(c), Project: p, Isolated: !unsandboxed}
			})
		})
	}
}

// config is a driver's for a project, with a clock that never shows the same second twice.
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
		Clock:     func() time.Time { return time.Unix(1767323045+seconds.Add(1), 0) },
	}
}
