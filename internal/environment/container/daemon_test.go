package container_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/environmenttest"
)

func TestADaemonThatIsRestartedCostsNothingButTheCommandsInBetween(t *testing.T) {
	t.Parallel()
	daemon := containertest.StartDaemon(t)
	docker, p := containertest.At(t, daemon.Host), environmenttest.NewProject(t)
	d := container.New(config(t, docker, p))
	e := made(t, d, p.Spec("site"))
	must(t, e, "echo own >/opt/file && echo work >work")

	daemon.Stop(t, syscall.SIGTERM) // which ends the containers
	if _, _, err := run(t, e, "true"); !errors.Is(err, environment.ErrNoContainer) || !strings.Contains(err.Error(), "systemctl start docker") {
		t.Errorf("without a daemon: %v", err)
	}
	if _, err := d.Check(t.Context()); !errors.Is(err, environment.ErrNoContainer) {
		t.Errorf("checked without a daemon: %v", err)
	}
	daemon.Start(t)
	if got := must(t, e, "cat /opt/file work"); got != "own\nwork\n" {
		t.Errorf("after a restart: %q", got)
	}

	daemon.Stop(t, syscall.SIGKILL) // which leaves them running
	must(t, e, "true")
	daemon.Start(t)
	must(t, made(t, container.New(config(t, docker, p)), p.Spec("site")), "cat /opt/file work")
	if ids := docker.Containers(t, p.Root); len(ids) != 1 {
		t.Errorf("containers %v", ids)
	}
}
