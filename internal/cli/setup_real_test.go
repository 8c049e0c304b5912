package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestRealProjectsAreSetUpByWhatTheirFilesSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, needs string
		lock        func(x *packageIndex) []string
		want        []string
	}{
		{"go", "go", func(x *packageIndex) []string {
			return []string{"env", "GOPROXY=" + x.url + "/go", "go", "mod", "tidy"}
		}, []string{"go mod download"}},
		{"node", "npm", lockNode, []string{"npm ci"}},
		{"python", "python3", nil, []string{"python3 -m venv .venv && echo '*' >.venv/.gitignore", ". .venv/bin/activate", "pip install -r requirements.txt"}},
		{"java", "mvn", nil, []string{"mvn -B -q -Dtest='*#noSuchMethod' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false test"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needs(t, c.needs)
			x := newPackageIndex(t)
			p := realProject(t, c.name, x, "")
			if c.lock != nil {
				p.lock(c.lock(x)...)
			}
			p.mustDetect(c.name, c.want)
			p.carryReal()
			p.mustBeSetUp("detection", c.name, c.want)
		})
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
	s := r.Journey.SetUp
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
