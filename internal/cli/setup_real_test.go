package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/environment/container/containertest"
	"signalbox/internal/workflow"
)

// realKind is one kind of project: the tool that it needs, how its lock file is written, and how
// it is to be set up.
type realKind struct {
	name, needs string
	lock        func(x *packageIndex) []string
	want        []string
}

var realKinds = []realKind{
	{"go", "go", func(x *packageIndex) []string {
		return []string{"env", "GOPROXY=" + x.url + "/go", "go", "mod", "tidy"}
	}, []string{"go mod download"}},
	{"node", "npm", lockNode, []string{"npm ci"}},
	{"python", "python3", nil, []string{"python3 -m venv .venv && echo '*' >.venv/.gitignore", ". .venv/bin/activate", "pip install -r requirements.txt"}},
	{"java", "mvn", nil, []string{"mvn -B -q -Dtest='*#noSuchMethod' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false test"}},
}

func TestRealProjectsAreSetUpByWhatTheirFilesSay(t *testing.T) {
	t.Parallel()
	for _, kind := range realKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			var changes []string
			if kind.name == "go" { // whose library is compiled in the container, and not here again; an index of modules would be written
				cache := goEnv(t, "GOCACHE")
				changes = []string{"environment:\n", fmt.Sprintf("environment:\n  read: [%q]\n", cache), "GOFLAGS=", fmt.Sprintf("%q, GODEBUG=goindex=0, CGO_ENABLED, GOFLAGS=-trimpath ", "GOCACHE="+cache)}
			}
			kind.mustBeCarried(t, changes...)
		})
	}
}

func TestRealProjectsAreSetUpInContainers(t *testing.T) {
	t.Parallel()
	docker := containertest.New(t)
	image := docker.Tools(t)
	for _, kind := range realKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			p := kind.mustBeCarried(t, "go 1.24", "go 1.19", "environment:\n", "environment:\n  driver: container\n  image: "+image+"\n")
			if kind.name == "go" {
				p.mustHaveKept("home/.cache/go-build/00")
			}
		})
	}
}

// mustBeCarried wants the kind of environment to be found, set up, verified, and the change tested in it.
func (k realKind) mustBeCarried(t *testing.T, changes ...string) *project {
	t.Helper()
	needs(t, k.needs)
	x := newPackageIndex(t)
	p := realProject(t, k.name, x, "", changes...)
	if k.lock != nil {
		p.lock(k.lock(x)...)
	}
	p.mustDetect(k.name, k.want)
	p.carryReal()
	p.mustBeSetUp("detection", k.name, k.want)
	if k.name == "go" {
		p.mustHaveKept("home/go/pkg/mod/example.com/colour@v1.0.0")
	}
	return p
}

// mustHaveKept wants a path in what is kept for the next run.
func (p *project) mustHaveKept(path string) {
	p.Helper()
	found, err := filepath.Glob(filepath.Join(p.dir, ".signalbox/environments/cache/*", path))
	if err != nil || len(found) == 0 {
		p.Errorf("%s is not kept: %v", path, err)
	}
}

func lockNode(*packageIndex) []string { return []string{"npm", "install", "--package-lock-only"} }

func (p *project) mustDetect(environment string, commands []string) {
	p.Helper()
	var got struct {
		Environment string   `json:"environment_type"`
		SetUp       []string `json:"setup_commands"`
	}
	if out := p.run(0, "env", "detect", "--json"); json.Unmarshal([]byte(out), &got) != nil {
		p.Fatalf("env detect --json printed %s", out)
	}
	if got.Environment != environment || !slices.Equal(got.SetUp, commands) {
		p.Fatalf("detected %q with %q, want %q with %q", got.Environment, got.SetUp, environment, commands)
	}
}

// mustBeSetUp wants the run merged, tested in an environment that was verified.
func (p *project) mustBeSetUp(source, environment string, commands []string) {
	p.Helper()
	r := p.stage(1)
	s := r.Details.SetUp
	var ran []string
	for _, c := range s.Ran {
		ran = append(ran, c.Command)
	}
	if r.State != workflow.Done || s.Source != source || s.Name != environment || s.Status != "success" || len(s.Verified) != len(s.Verification) || !slices.Equal(ran, commands) {
		p.Errorf("the run is %s, set up as %+v", r.State, s)
	}
	if message := p.git("log", "-1", "--format=%B"); !strings.Contains(message, "Test-Result: passed") {
		p.Errorf("the merge says nothing of tests:\n%s", message)
	}
}
