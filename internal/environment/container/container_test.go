package container_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	docker := containertest.New(t)
	open := func(t *testing.T) environmenttest.Harness {
		p := environmenttest.NewProject(t)
		c := config(t, docker, p)
		connected := func(t *testing.T, network string, policy egress.Policy) environment.Driver {
			c := c
			c.Network, c.Egress = network, policy
			return container.New(c)
		}
		return environmenttest.Harness{Driver: container.New(c), Project: p, Isolated: true, OwnSystem: true, Keeps: true, Connected: connected, Sample: true}
	}
	t.Run("of all", func(t *testing.T) { t.Parallel(); environmenttest.Run(t, environmenttest.Whole, open) })
	t.Run("of the network", func(t *testing.T) { t.Parallel(); environmenttest.Run(t, environmenttest.Network, open) })
}

// config is a driver's for a project. Its containers go with the test.
func config(t testing.TB, docker containertest.Docker, p *environmenttest.Project) container.Config {
	t.Helper()
	repo, err := git.Open(t.Context(), process.Host{}, p.Root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { docker.RemoveProject(t, p.Root) })
	var seconds atomic.Int64
	return container.Config{
		Clone: clone.Config{
			Repo: repo, Exec: process.Host{}, Root: p.Root, State: state(p), Cache: 1 << 30, Variables: environmenttest.Variables,
			Identity: environmenttest.Identity,
			Clock:    func() time.Time { return time.Unix(1767323045+seconds.Add(1), 0) },
		},
		Variables: environmenttest.Variables, Image: docker.Image, Network: egress.None,
		Program: docker.Program, Docker: docker.Helper, DockerEnv: docker.Env(),
	}
}

func state(p *environmenttest.Project) string {
	return filepath.Join(p.Root, ".signalbox", "environments")
}
