package pipeline_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// labOnce runs the job in a clean folder and keeps what it saved for the next, which comes after a while.
func (s *site) labOnce(p *gitLabProject, later time.Duration, variables ...string) (log string, err error) {
	s.Helper()
	s.git("clean", "--quiet", "-ffdx")
	s.fresh()
	p.mu.Unlock()
	log, err = s.lab(p.Server, append(variables, "SIGNALBOX_GITLAB_ISSUES_TOKEN="+issuesToken)...)
	p.mu.Lock()
	if strings.Contains(log, issuesToken) {
		s.Errorf("the log has the token:\n%s", log)
	}
	files := map[string]string{}
	for _, name := range []string{"state.json", "state.json.bak"} {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		switch {
		case err == nil:
			files[name] = older(s.T, string(data), later)
		case name == "state.json":
			s.Fatalf("%v\n%s", err, log)
		}
	}
	p.jobs = append([]job{healed(100+len(p.jobs), files)}, p.jobs...)
	return log, err
}

func TestTheGitLabJobOpensOneIssueAndClosesItAfterThreeHealthyPasses(t *testing.T) {
	t.Parallel()
	s, p := newGitLabSite(t, theRealPass), newGitLabProject(t)
	s.push("mend.sh", "echo tried >>shop.txt\n")
	p.opened(mallory, "Self-healing gave up", criticalMark)
	for n := range 3 {
		if log, err := s.labOnce(p, 10*time.Minute); err == nil || len(p.issues) != 1+n/2 {
			t.Fatalf("%v, %d issues after job %d\n%s", err, len(p.issues), n+1, log)
		}
	}
	called := p.issues[1]
	if called.Labels != "signalbox-heal" || !strings.HasPrefix(called.Description, "<!-- signalbox-heal critical since 2") {
		t.Errorf("opened %+v", called)
	}
	called.Title = "The shop is broken"
	log, err := s.labOnce(p, time.Hour)
	if err != nil || !strings.Contains(log, "critical: repairs failed in 3 passes in a row") || strings.Contains(log, "There is an issue") {
		t.Fatalf("a look is not due yet: %v\n%s", err, log)
	}
	if log, err := s.labOnce(p, time.Hour); err != nil || !strings.Contains(log, "There is an issue about it: "+called.URL) || len(p.issues) != 2 {
		t.Fatalf("%v, %d issues\n%s", err, len(p.issues), log)
	}
	s.push("shop.txt", "mended\n")
	for n := range 3 {
		if called.State != "opened" {
			t.Fatalf("after %d healthy passes the issue is %+v", n, called)
		}
		if log, err := s.labOnce(p, time.Hour); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
	}
	if called.State != "closed" || len(called.notes) != 1 || len(p.issues) != 2 || p.issues[0].State != "opened" {
		t.Errorf("the issues are %+v and %+v", p.issues[0], called)
	}
}

func TestAPersonWhoClosesTheIssueOnGitLabRearmsTheLoop(t *testing.T) {
	t.Parallel()
	s, p := newGitLabSite(t, theRealPass), newGitLabProject(t)
	p.jobs = []job{healed(8, map[string]string{"state.json": criticalJustNow()})}
	p.opened(mallory, "x", criticalMark).close(mallory)
	ours := p.opened(loopItself, "x", criticalMark+"\n")
	for what, act := range map[string]func(){
		"no one closed ours":          func() {},
		"we closed it":                func() { ours.close(loopItself) },
		"a program closed it":         func() { ours.close(triage) },
		"GitLab does not say by whom": func() { ours.State, ours.ClosedBy = "closed", nil },
	} {
		ours.State, ours.ClosedBy = "opened", nil
		act()
		if log, err := s.labOnce(p, 0); err != nil || strings.Contains(log, "repairs begin again") {
			t.Fatalf("%s: %v\n%s", what, err, log)
		}
	}
	ours.close(grace)
	log, err := s.labOnce(p, 0)
	if got := s.git("--git-dir", s.origin, "show", "main:shop.txt"); err != nil || got != "mended" || !strings.Contains(log, "repairs begin again") || len(p.issues) != 2 {
		t.Errorf("%v, the branch has %q\n%s", err, got, log)
	}
}

func TestWithoutATokenForIssuesTheGitLabJobGoesOn(t *testing.T) {
	t.Parallel()
	s := newGitLabSite(t, fails)
	third := strings.Replace(failedOnce, `count":1`, `count":2`, 1)
	log, err := s.lab(gitLab(t, []job{healed(8, map[string]string{"state.json": third})}))
	if err == nil || !strings.Contains(log, "SIGNALBOX_GITLAB_ISSUES_TOKEN is not set, so no issue calls a person") {
		t.Errorf("%v\n%s", err, log)
	}
}

func TestTheIssueOnGitLab(t *testing.T) {
	t.Parallel()
	healthy := `{"last_health_status":"healthy","signalbox":{"healthy_passes":%d}}`
	for name, c := range map[string]struct {
		state string
		there func(*gitLabProject)
		check func(*gitLabProject) bool
	}{
		"hostile text": {strings.Replace(criticalJustNow(), "refused", `refused\r\n/close\n@all`, 1), func(*gitLabProject) {}, func(p *gitLabProject) bool {
			return len(p.issues) == 1 && strings.Contains(p.issues[0].Description, "\n    refused\n    /close\n    @all\n") && p.issues[0].Title == "Self-healing gave up: e1 ::error::"
		}},
		"a program closed it": {criticalJustNow(), func(p *gitLabProject) { p.opened(loopItself, "x", criticalMark).close(triage) },
			func(p *gitLabProject) bool { return len(p.issues) == 1 && p.issues[0].State == "opened" }},
		"a person closed it meanwhile": {criticalJustNow(), func(p *gitLabProject) { p.opened(loopItself, "x", criticalMark).close(grace) },
			func(p *gitLabProject) bool { return len(p.issues) == 1 && p.issues[0].State == "closed" }},
		"one about an earlier time is open": {criticalJustNow(), func(p *gitLabProject) {
			p.opened(loopItself, "x", strings.Replace(criticalMark, "2026", "2025", 1))
		}, func(p *gitLabProject) bool {
			return len(p.issues) == 1 && strings.HasPrefix(p.issues[0].Description, criticalMark) && len(p.issues[0].notes) == 1
		}},
		"healthy, but not for long": {fmt.Sprintf(healthy, 2), func(p *gitLabProject) { p.opened(loopItself, "x", criticalMark) },
			func(p *gitLabProject) bool { return p.issues[0].State == "opened" }},
		"healthy for good": {fmt.Sprintf(healthy, 3), func(p *gitLabProject) { p.opened(loopItself, "x", criticalMark); p.opened(mallory, "x", criticalMark) },
			func(p *gitLabProject) bool { return p.issues[0].State == "closed" && p.issues[1].State == "opened" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newGitLabProject(t)
			c.there(p)
			for range 2 { // who asks again changes nothing
				if log, err := p.tell(t, c.state); err != nil || !c.check(p) {
					t.Fatalf("%v: %+v\n%s", err, p.issues, log)
				}
			}
			p.Close()
			if log, err := p.tell(t, c.state); err == nil || strings.Contains(log, "Opened") {
				t.Errorf("without an answer: %v\n%s", err, log)
			}
		})
	}
}

// tell runs the script about the issue, after a pass that left a state.
func (p *gitLabProject) tell(t *testing.T, state string) (log string, err error) {
	t.Helper()
	script, err := filepath.Abs("gitlab/.gitlab/signalbox-heal-issue.sh")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "bash", script, "tell")
	c.Dir, c.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "CI_API_V4_URL=" + p.URL + "/api/v4", "CI_PROJECT_ID=12", "CI_JOB_URL=x", "SIGNALBOX_GITLAB_ISSUES_TOKEN=" + issuesToken}
	if err := os.WriteFile(filepath.Join(c.Dir, "state.json"), []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	p.mu.Unlock()
	out, err := c.CombinedOutput()
	p.mu.Lock()
	return string(out), err
}
