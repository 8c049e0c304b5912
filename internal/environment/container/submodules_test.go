package container_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/environment/container"
	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/environmenttest"
)

func TestAContainerSeesTheFilesOfSubmodules(t *testing.T) {
	t.Parallel()
	docker, p, lib := containertest.New(t), environmenttest.NewProject(t), environmenttest.NewProject(t)
	p.Write(t, ".gitmodules", "[submodule \"lib\"]\n\tpath = deps/lib\n\turl = https://lib.example/lib.git\n")
	p.Git(t, "add", ".gitmodules")
	p.Git(t, "update-index", "--add", "--cacheinfo", "160000,"+lib.Commit+",deps/lib")
	p.Git(t, "commit", "--quiet", "--message=lib")
	p.Commit = p.Git(t, "rev-parse", "HEAD")
	c := config(t, docker, p)
	c.Network = egress.Registries
	_, err := container.New(c).Make(t.Context(), p.Spec("site"))
	var missing *environment.SubmoduleError
	if !errors.As(err, &missing) || strings.Join(missing.Hosts, " ") != "lib.example" {
		t.Errorf("without them: %v", err)
	}
	p.Git(t, "clone", "--quiet", "--bare", lib.Root, filepath.Join(p.Root, ".git/modules/lib"))
	d := container.New(c)
	if err := d.CheckSubmodules(t.Context(), p.Commit); err != nil {
		t.Fatal(err)
	}
	e := made(t, d, p.Spec("site"))
	if got := must(t, e, "cat deps/lib/src/app.txt && echo edited >deps/lib/src/app.txt && echo built >deps/lib/built"); got != "one\ntwo\n" {
		t.Errorf("inside: %q", got)
	}
	if err := e.Reset(t.Context(), p.Commit, ""); err != nil {
		t.Fatal(err)
	}
	if got := must(t, e, "cat deps/lib/src/app.txt deps/lib/built"); got != "one\ntwo\nbuilt\n" {
		t.Errorf("after a reset: %q", got)
	}
}
