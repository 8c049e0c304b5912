package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestAnIndexInTroubleIsWaitedFor(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	x := newPackageIndex(t)
	// A proxy would answer for a connection that was reset.
	p := realProject(t, "node", x, "", "network: registries", "network: full")
	p.lock(lockNode(x)...)
	x.fail(busy, resets)
	said := p.carryReal()
	p.mustBeSetUp("detection", "node", []string{"npm ci"})
	if n := x.troubled(); n != 2 {
		t.Errorf("%d requests failed, want 2", n)
	}
	s := p.stage(1).Details.SetUp
	firstLine := func(i int) string { line, _, _ := strings.Cut(s.Errors[i], "\n"); return line }
	if len(s.Errors) != 2 || !strings.Contains(firstLine(0), "503 Service Unavailable - GET "+x.url) || !strings.HasSuffix(firstLine(1), "read ECONNRESET") || s.NetworkRetries != 1 || s.Repaired {
		t.Errorf("the set-up ended as %+v", s)
	}
	for _, wait := range []string{"a server, retry 1 of 3", "the network, retry 1 of 3"} {
		if !strings.Contains(said, wait) {
			t.Errorf("nothing is said of %q:\n%s", wait, said)
		}
	}
}

func TestATroubleThatPipKeepsToItselfIsWaitedForAndNotCorrected(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	x := newPackageIndex(t)
	p := realProject(t, "python", x, "", ", PIP_RETRIES=0", "")
	x.fail(busy, busy) // pip asks twice
	said := p.carryReal()
	s := p.stage(1).Details.SetUp
	if len(s.Errors) != 1 || !strings.Contains(s.Errors[0], "too many 503 error responses") || s.Repaired || s.Status != "success" {
		t.Errorf("the set-up ended as %+v", s)
	}
	if !strings.Contains(said, "waiting 10s for a server, retry 1 of 3: ") {
		t.Errorf("nothing is said of waiting:\n%s", said)
	}
}

func TestAnotherPackageManagersLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	needs(t, "apt-get")
	needs(t, "curl")
	x := newPackageIndex(t)
	ready, goOn := x.waits("/ready")
	locked, unlock := x.waits("/hang/./InRelease")
	p := realProject(t, "apt", x, "")
	c := p.start("run", "1")
	<-ready
	other := p.otherAptGet(x)
	<-locked
	close(goOn)
	if !c.until(func() bool { return p.stage(1).Details.Used.LockWaits > 0 }) {
		t.Fatalf("the lock was not waited for:\n%s", c.out)
	}
	close(unlock)
	if err := other.Wait(); err == nil {
		t.Error("the other apt-get found a repository where there is none")
	}
	if code := c.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s\n%+v", code, c.out, p.stage(1).Details.SetUp)
	}
	p.mustBeSetUp("configuration", "debian", []string{"curl -fsS " + x.url + "/ready", "apt-get update"})
	if s := p.stage(1).Details.SetUp; !strings.Contains(s.Errors[0], "Could not get lock /workspace/apt/state/lists/lock") || s.Repaired {
		t.Errorf("the set-up ended as %+v", s)
	}
}

// otherAptGet updates the same package lists from outside of the sandbox, from
// an index that keeps it waiting.
func (p *project) otherAptGet(x *packageIndex) *exec.Cmd {
	p.Helper()
	found, err := filepath.Glob(filepath.Join(p.dir, ".worktrees", "issue-1-*", "apt"))
	if err != nil || len(found) != 1 {
		p.Fatalf("the work folder is at %v, %v", found, err)
	}
	inside, err := os.ReadFile(filepath.Join(found[0], "inside.conf"))
	if err != nil {
		p.Fatal(err)
	}
	dir := p.TempDir()
	for name, content := range map[string]string{
		"outside.conf": strings.NewReplacer("/workspace/apt/sources.list", filepath.Join(dir, "sources.list"), "/workspace/apt", found[0]).Replace(string(inside)),
		"sources.list": "deb [trusted=yes] " + x.url + "/hang ./\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	other := exec.CommandContext(p.Context(), "apt-get", "update", "-o", "Acquire::Retries=0", "--error-on=any")
	other.Env = []string{"PATH=" + os.Getenv("PATH"), "APT_CONFIG=" + filepath.Join(dir, "outside.conf")}
	if err := other.Start(); err != nil {
		p.Fatal(err)
	}
	return other
}

// repairer answers as a model would that is told what went wrong: it takes the
// name back that it was told of, and knows the right one at the second time.
const repairer = `  - role: repairer
    do:
      - run:
          - bash
          - -c
          - |
            prompt=$(cat)
            grep -q "No matching distribution found" <<<"$prompt" || exit 1
            name=colours
            if grep -q "pip install colours" <<<"$prompt"; then name=RIGHT; fi
            echo '{"setup_commands": [BEFORE"pip install '$name'"]}'
`

// misspelt is what the configuration says instead of what requirements.txt does.
var misspelt = []string{"environment:\n", "environment:\n  name: python\n  set_up: [python3 -m venv .venv, . .venv/bin/activate, pip install color]\n  verify: [{command: 'python -c \"import colour; print(colour.name)\"', expect: blue}]\n"}

func TestAWrongNameIsCorrectedAtTheSecondRepair(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	repairs := strings.NewReplacer("RIGHT", "colour", "BEFORE", `"python3 -m venv .venv", ". .venv/bin/activate", `).Replace(repairer)
	p := realProject(t, "python", newPackageIndex(t), repairs, misspelt...)
	if said := p.run(3, "run", "1"); !strings.Contains(said, "\n      pip install colour\n") {
		t.Errorf("what a model corrected is not shown:\n%s", said)
	}
	p.run(0, "approve", "1")
	p.mustBeSetUp("configuration", "python", []string{"python3 -m venv .venv", ". .venv/bin/activate", "pip install colour"})
	r := p.stage(1)
	if s := r.Details.SetUp; !s.Repaired || len(s.Errors) != 2 || r.Counters.PlannerCalls != 0 || r.Details.RepairCalls != 2 {
		t.Errorf("%d repairs, set up as %+v", r.Details.RepairCalls, s)
	}
}

// This pip knows no name at all, and says so in pip's words.
func TestWorkContinuesWithAWarningOnceTheRepairsAreUsedUp(t *testing.T) {
	t.Parallel()
	told := `  - {role: implementer, do: [{run: [sh, -c, 'grep -q "could not be set up: dependencies may be missing" && echo told >told.txt']}, {answer: Done without.}]}` + "\n"
	repairs := strings.NewReplacer("RIGHT", "colours", "BEFORE", "", "pip install '", "sh ./pip install '").Replace(repairer)
	p := realProject(t, "python", newPackageIndex(t), repairs+told, "environment:\n",
		"environment:\n  name: python\n  set_up: [sh ./pip install color]\n", "python -m unittest", "test -e told.txt")
	p.write("pip", `echo "ERROR: No matching distribution found for $2" >&2; exit 1`)
	p.git("add", "pip")
	p.git("commit", "--quiet", "--amend", "--no-edit")
	p.carryReal()
	r := p.stage(1)
	if s := r.Details.SetUp; r.State != workflow.Done || s.Status != "failed" || s.Class != workflow.FailureFixable || r.Details.RepairCalls != 3 || len(s.Errors) != 4 {
		t.Errorf("the run is %s after %d repairs, set up as %+v", r.State, r.Details.RepairCalls, s)
	}
	if h := r.Details.HandOver(); h.Ready || h.Name != "python" || h.Status != "failed" || !strings.Contains(h.Errors[3], "No matching distribution found for colours") {
		t.Errorf("handed over as %+v", h)
	}
	if note := r.Details.Phases[workflow.DesignCheck].Note; !strings.Contains(note, "warning: the environment's setup failed") {
		t.Errorf("design-check says %q", note)
	}
	i := slices.IndexFunc(p.comments(), func(text string) bool { return strings.HasPrefix(text, "## Environment setup failed") })
	if i < 0 {
		t.Fatalf("no comment tells of it: %q", p.comments())
	}
	for _, line := range []string{"**Environment**: python\n", "No matching distribution found for colours", "- network retries: 0\n", "- corrections by the model: 3/3\n", "- class of the error: fixable\n"} {
		if text := p.comments()[i]; !strings.Contains(text, line) {
			t.Errorf("the comment lacks %q:\n%s", line, text)
		}
	}
	if told := p.git("show", "HEAD:told.txt"); told != "told" {
		t.Errorf("the implementer was told %q", told)
	}
}

// comments are those on request 1.
func (p *project) comments() (texts []string) {
	p.Helper()
	record, err := os.ReadFile(filepath.Join(p.dir, ".signalbox/requests/1.json"))
	if err != nil {
		p.Fatal(err)
	}
	var notes struct{ Comments []struct{ Body string } }
	if err := json.Unmarshal(record, &notes); err != nil {
		p.Fatal(err)
	}
	for _, c := range notes.Comments {
		texts = append(texts, c.Body)
	}
	return texts
}
