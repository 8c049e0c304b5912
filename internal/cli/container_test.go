package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/workflow"
)

// contained is a project whose commands and agents run in containers.
func contained(t *testing.T) (*project, containertest.Docker) {
	t.Helper()
	docker := containertest.New(t)
	p := newProject(t, 1, "approve: auto", "approve: auto\nenvironment: {driver: container, image: \""+docker.Image+"\"}")
	t.Cleanup(func() { docker.RemoveProject(t, p.dir) })
	return p, docker
}

func TestARequestIsCarriedToItsMergeInContainers(t *testing.T) {
	t.Parallel()
	p, docker := contained(t)
	if said := p.run(0, "doctor"); !strings.Contains(said, "containers     Docker ") {
		t.Errorf("doctor said %s", said)
	}
	p.run(0, "run", "1")
	run := p.stage(1)
	if run.State != workflow.Done || run.Details.Isolation != "container" || p.git("show", "main:greet-1.sh") != "# Says hello.\necho hello 1" {
		t.Errorf("got state %s, isolation %q, file %q", run.State, run.Details.Isolation, p.git("show", "main:greet-1.sh"))
	}
	p.mustBeSound()
	if left := docker.Containers(t, p.dir); len(left) != 0 {
		t.Errorf("containers are left: %v", left)
	}
}

func TestDoctorSaysWhatAContainerLacks(t *testing.T) {
	t.Parallel()
	p, docker := contained(t)
	path := filepath.Join(p.dir, ".signalbox", "config.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p.write(".signalbox/config.yaml", strings.Replace(string(text), docker.Image, "nobody/has:this", 1))
	said := p.run(1, "doctor")
	if !strings.Contains(said, "missing") || !strings.Contains(said, "docker pull nobody/has:this") {
		t.Errorf("doctor said %s", said)
	}
}
