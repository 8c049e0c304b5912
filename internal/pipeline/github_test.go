package pipeline_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/pipeline"
)

var uses = regexp.MustCompile(`uses: (actions/[a-z-]+@[0-9a-f]{40})`)

// actions are the actions of others that our files use, by name and commit.
func actions(t *testing.T) (found []string) {
	t.Helper()
	for _, file := range pipeline.GitHub() {
		for _, match := range uses.FindAllSubmatch(file.Content, -1) {
			found = append(found, string(match[1]))
		}
	}
	return found
}

// All of these run the workflow with act: its jobs, conditions, outputs, composite action and files are a real runner's. Three
// things stand for what lies on github.com: the hub for its API, testdata/actions for three of its actions, and, but for the
// last test, a script for the pass.

// The story of pattern 2 and then 1, with nothing in the place of the pass: a real check, agent, sandbox and merge.
func TestARealPassRepairsTheNextOneVerifiesAndTheOneAfterIsSkipped(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), theRealPass)
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "success"})
	if got := s.git("--git-dir", s.origin, "show", "main:shop.txt"); got != "mended" || s.state("total_fixes_succeeded") != "1" || s.state("last_health_status") != `"degraded"` {
		t.Fatalf("the branch has %q, and saved is %v\n%s", got, unpacked(t, s.newest()), r.log)
	}
	if !slices.ContainsFunc(s.artifacts, func(a saved) bool { return a.name == "signalbox-heal-runs-1" }) {
		t.Error("nothing of the run was kept for people")
	}
	s.mustEnd(s.act("schedule", scheduled), map[string]string{"gate": "success", "repair": "success"})
	if s.state("last_health_status") != `"healthy"` || s.state("total_fixes_succeeded") != "1" || unpacked(t, s.newest())[".signalbox/heal/log.json"] == "" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
	s.mustEnd(s.act("schedule", scheduled), map[string]string{"gate": "success"})
}

func TestARepairThatWaitsForAnApprovalIsPushedAndCountsAsFailed(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), theRealPass)
	s.write(".signalbox/config.yaml", strings.Replace(settings, "approve: auto", "approve: manual", 1))
	s.git("commit", "--quiet", "--all", "--message", "Ask")
	s.git("push", "--quiet", "origin", "main")
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "failure"})
	if s.state("continuous_failure_count") != "1" || s.state("retry_required") != "true" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
	branch := "signalbox-heal/900-1/1-health-check-shop-fails-exit-code-1"
	s.mustSay(r, "It was pushed as "+branch)
	if got := s.git("--git-dir", s.origin, "show", branch+":shop.txt"); got != "mended" {
		t.Errorf("the waiting branch has %q", got)
	}
}

func TestAFirstRunLooksRepairsPushesAndSavesTheState(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "success"})
	s.mustSay(r, "This is the first run")
	if s.state("total_fixes_succeeded") != "1" || s.newest().days != 7 {
		t.Errorf("saved %v for %d days", unpacked(t, s.newest()), s.newest().days)
	}
	if got := s.git("--git-dir", s.origin, "show", "main:shop.txt"); got != "mended" {
		t.Errorf("the branch has %q", got)
	}
}

func TestAFailedRepairGoesOnFromTheStateOfTheLastRunAndSavesItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), fails)
	s.saved(time.Hour, map[string]string{"state.json": failedOnce, "state.json.bak": "{}"})
	s.add(saved{run: 42, branch: "other", created: time.Now()})
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "failure"})
	s.mustSay(r, "The newest state is that of run 41")
	if s.state("continuous_failure_count") != "2" || s.state("total_errors_detected") != "6" || s.state("retry_required") != "true" {
		t.Errorf("saved %v", unpacked(t, s.newest()))
	}
}

func TestARepairIsSkippedWhenTheGateSaysStop(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	s.saved(time.Hour, map[string]string{"state.json": fmt.Sprintf(`{"last_health_status":"healthy","updated_at":%q}`, time.Now().Format(time.RFC3339))})
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success"})
	s.mustSay(r, "stop: healthy")
	if len(s.artifacts) != 1 {
		t.Errorf("the gate saved %v", unpacked(t, s.artifacts[0]))
	}
}

func TestARepairOfABranchThatMovedIsKeptOnABranchOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), strings.Replace(repairs, "echo mended", `git clone --quiet "$TEST_ORIGIN" ../another
git -C ../another -c user.name=Eve -c user.email=eve@localhost commit --quiet --allow-empty --message Meanwhile
git -C ../another push --quiet origin main
echo mended`, 1))
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "failure"})
	s.mustSay(r, "It was pushed as signalbox-heal/900-1/merged")
	if got := s.git("--git-dir", s.origin, "show", "signalbox-heal/900-1/merged:shop.txt"); got != "mended" || s.state("run_count") != "1" {
		t.Errorf("the kept branch has %q, and saved is %v", got, unpacked(t, s.newest()))
	}
}

func TestARepairThatChangesTheProgramItselfIsForAPersonToMerge(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), strings.Replace(repairs, "echo mended", "echo 'echo $TOKEN' >>tools/signalbox\necho mended", 1))
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "failure"})
	s.mustSay(r, "It was pushed as signalbox-heal/900-1/merged, because it changes the program that runs here")
	if got := s.git("--git-dir", s.origin, "show", "main:shop.txt"); got != "broken" {
		t.Errorf("the branch has %q", got)
	}
}

func TestNothingRunsForAnotherBranchOrAFork(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), repairs)
	for name, event := range map[string]map[string]any{
		"another branch": {"ref": "refs/heads/feature", "repository": map[string]any{"default_branch": "main"}},
		"a tag":          {"ref": "refs/tags/main", "repository": map[string]any{"default_branch": "main"}},
		"a fork":         {"ref": "refs/heads/main", "repository": map[string]any{"default_branch": "main", "fork": true}},
	} {
		if r := s.act("workflow_dispatch", event); len(r.jobs) != 0 || s.pages != 0 {
			t.Errorf("%s: %v\n%s", name, r.jobs, r.log)
		}
	}
}

// scheduled is the whole event of a schedule.
var scheduled = map[string]any{"schedule": "2-59/5 * * * *"}

func byHand(person string) map[string]any {
	return map[string]any{"ref": "refs/heads/main", "repository": map[string]any{"default_branch": "main"}, "inputs": map[string]any{"person": person}}
}

func (s *site) mustEnd(r ran, want map[string]string) {
	s.Helper()
	if !maps.Equal(r.jobs, want) {
		s.Fatalf("the jobs ended as %v, want %v\n%s", r.jobs, want, r.log)
	}
}

func (s *site) mustSay(r ran, want string) {
	s.Helper()
	if !strings.Contains(r.log, want) {
		s.Errorf("nothing said %q:\n%s", want, r.log)
	}
}
