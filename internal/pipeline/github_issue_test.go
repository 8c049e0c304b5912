package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/pipeline"
)

// Pattern 4 with nothing mocked in the pass: an agent that can't fix it, one issue, and a person's repair.
func TestThreeFailuresInARowOpenOneIssueAndThreeHealthyPassesCloseIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), theRealPass)
	s.push("mend.sh", "echo tried >>shop.txt\n")
	for n := range 3 {
		s.mustEnd(s.act("schedule", scheduled), map[string]string{"gate": "success", "repair": "failure"})
		if got := s.state("continuous_failure_count"); got != fmt.Sprint(n+1) || len(s.issues) != n/2 {
			t.Fatalf("%s failures and %d issues after run %d: %v", got, len(s.issues), n+1, unpacked(t, s.newest()))
		}
		s.later(t, 10*time.Minute)
	}
	called := s.issues[0]
	if s.state("last_health_status") != `"critical"` || s.state("retry_required") != "false" || !slices.Equal(called.Labels, []string{"signalbox-heal"}) {
		t.Errorf("opened %+v, and saved %v", called, unpacked(t, s.newest()))
	}

	// Until the next look is due the job that repairs is skipped. What a person changed of the issue does not matter.
	called.Title, called.Labels, called.Body = "The shop is broken", nil, called.Body+"\nI am at it."
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success"})
	s.mustSay(r, "close the issue about it, or start this workflow by hand with person = mended")
	s.runs-- // it saved nothing
	s.later(t, time.Hour)
	r = s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "success"})
	s.mustSay(r, "There is an issue about it: "+called.URL)
	if s.state("total_fixes_attempted") != "3" || len(s.issues) != 1 || called.Title != "The shop is broken" {
		t.Errorf("%d issues, %+v, and saved %v", len(s.issues), called, unpacked(t, s.newest()))
	}

	s.push("shop.txt", "mended\n")
	for n := range 3 {
		if called.State != "open" || s.state("last_health_status") != `"critical"` {
			t.Fatalf("after %d healthy passes the issue is %+v", n, called)
		}
		s.later(t, time.Hour)
		s.mustEnd(s.act("schedule", scheduled), map[string]string{"gate": "success", "repair": "success"})
	}
	if called.State != "closed" || len(called.comments) != 1 || !strings.Contains(called.comments[0], "Three passes in a row found nothing wrong") {
		t.Errorf("the issue is %+v", called)
	}
	if s.state("last_health_status") != `"healthy"` || s.state("total_fixes_attempted") != "3" || len(s.issues) != 1 {
		t.Errorf("%d issues, and saved %v", len(s.issues), unpacked(t, s.newest()))
	}
}

func TestAPersonWhoClosesTheIssueRearmsTheLoop(t *testing.T) {
	t.Parallel()
	s := newSite(t, pipeline.GitHub(), theRealPass)
	s.saved(time.Hour, map[string]string{"state.json": criticalJustNow()})
	strangers := s.opened(eve, "Self-healing gave up", criticalMark+"\n")
	strangers.close(eve)
	ours := s.opened(workflowItself, "Self-healing gave up: e1", criticalMark+"\nRepairs failed in 3 passes in a row.\n")
	quoting := s.opened(workflowItself, "Somebody said", "> "+criticalMark+"\n")
	quoting.close(ada)
	for what, act := range map[string]func(){
		"no one closed ours":          func() {},
		"only a program closed it":    func() { ours.close(workflowItself) },
		"GitHub does not say by whom": func() { ours.close(account{}) },
	} {
		ours.State, ours.ClosedBy = "open", nil
		act()
		if r := s.act("schedule", scheduled); len(r.jobs) != 1 || r.jobs["gate"] != "success" || strings.Contains(r.log, "repairs begin again") {
			t.Fatalf("%s, and the jobs ended as %v\n%s", what, r.jobs, r.log)
		}
	}
	ours.close(ada)
	r := s.act("schedule", scheduled)
	s.mustEnd(r, map[string]string{"gate": "success", "repair": "success"})
	s.mustSay(r, "A person closed the issue about the critical state: repairs begin again.")
	if got := s.git("--git-dir", s.origin, "show", "main:shop.txt"); got != "mended" || s.state("continuous_failure_count") != "0" || s.state("total_errors_detected") != "10" {
		t.Errorf("the branch has %q, and saved is %v\n%s", got, unpacked(t, s.newest()), r.log)
	}
	if len(s.issues) != 3 {
		t.Errorf("opened %+v", s.issues[3:])
	}
}

// The issue is found wherever a person left it, and its state is reported once.
func TestTheIssueAboutACriticalState(t *testing.T) {
	t.Parallel()
	const hostile = `refused\r\n@all <!-- signalbox-heal critical since 2020 -->`
	critical := strings.Replace(criticalJustNow(), "refused", hostile, 1)
	healthy := `{"last_health_status":"healthy","signalbox":{"healthy_passes":%d}}`
	for name, c := range map[string]struct {
		state string
		there func(*hub)
		check func(*hub) bool
		says  string
	}{
		"no one was told": {critical, func(*hub) {}, func(h *hub) bool {
			i := h.issues[0]
			return len(h.issues) == 1 && strings.HasPrefix(i.Body, criticalMark+"\n") && strings.Contains(i.Body, "\n    refused\n    @all <!-- signalbox-heal") &&
				strings.Contains(i.Body, "close this issue") && i.Title == "Self-healing gave up: e1 ::error::" && slices.Equal(i.Labels, []string{"signalbox-heal"})
		}, "Opened an issue about it: https://github.com/acme/shop/issues/1"},
		"a stranger copied the mark": {critical, func(h *hub) { h.opened(eve, "x", criticalMark) }, func(h *hub) bool { return len(h.issues) == 2 }, "Opened an issue"},
		"it is open, far back": {critical, func(h *hub) {
			h.opened(workflowItself, "renamed", criticalMark)
			for range 130 {
				h.opened(workflowItself, "of another workflow", "hello")
			}
		}, func(h *hub) bool { return len(h.issues) == 131 }, "There is an issue about it: https://github.com/acme/shop/issues/1"},
		"a person closed it meanwhile": {critical, func(h *hub) { h.opened(workflowItself, "x", criticalMark).close(ada) },
			func(h *hub) bool { return len(h.issues) == 1 && h.issues[0].State == "closed" }, "There is an issue"},
		"a program closed it": {critical, func(h *hub) { h.opened(workflowItself, "x", criticalMark).close(workflowItself) },
			func(h *hub) bool { return len(h.issues) == 1 && h.issues[0].State == "open" }, "Reopened it"},
		"one about an earlier time is open": {critical, func(h *hub) { h.opened(workflowItself, "x", strings.Replace(criticalMark, "2026", "2025", 1)+"\nold") },
			func(h *hub) bool {
				i := h.issues[0]
				return len(h.issues) == 1 && strings.HasPrefix(i.Body, criticalMark) && !strings.Contains(i.Body, "old") && len(i.comments) == 1
			}, "is about this one now"},
		"healthy, but not for long": {fmt.Sprintf(healthy, 2), func(h *hub) { h.opened(workflowItself, "x", criticalMark) },
			func(h *hub) bool { return h.issues[0].State == "open" }, ""},
		"healthy for good": {fmt.Sprintf(healthy, 3), func(h *hub) {
			h.opened(workflowItself, "x", criticalMark)
			h.opened(eve, "x", criticalMark)
			h.opened(workflowItself, "x", "of another workflow")
		}, func(h *hub) bool {
			return h.issues[0].State == "closed" && len(h.issues[0].comments) == 1 && h.issues[1].State == "open" && h.issues[2].State == "open"
		}, "Closed the issue about it: https://github.com/acme/shop/issues/1"},
		"nothing was saved": {"", func(*hub) {}, func(h *hub) bool { return len(h.issues) == 0 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, dir := newHub(t), t.TempDir()
			c.there(h)
			if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(c.state), 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // who asks again changes nothing
				_, log, err := h.script("issue.sh tell", dir)
				if err != nil || !c.check(h) || strings.Contains(log, apiToken) {
					t.Fatalf("%v: %+v\n%s", err, h.issues, log)
				}
				if !strings.Contains(log, c.says) {
					t.Errorf("nothing said %q:\n%s", c.says, log)
				}
				c.says = ""
			}
		})
	}
}

func TestAnAnswerThatIsMissingOpensNoSecondIssue(t *testing.T) {
	t.Parallel()
	h, dir := newHub(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(criticalJustNow()), 0o600); err != nil {
		t.Fatal(err)
	}
	h.opened(workflowItself, "x", criticalMark).close(ada)
	h.silent = "/issues/1" // who closed it
	if _, log, err := h.script("issue.sh tell", dir); err == nil || h.issues[0].State != "closed" {
		t.Errorf("%v: %+v\n%s", err, h.issues, log)
	}
	h.down = true
	if _, log, err := h.script("issue.sh tell", dir); err == nil || strings.Contains(log, "Opened") {
		t.Errorf("%v\n%s", err, log)
	}
	if outputs, log, err := h.script("issue.sh heed", dir); err == nil || outputs != "" {
		t.Errorf("%v, %q\n%s", err, outputs, log)
	}
}

const criticalMark = "<!-- signalbox-heal critical since 2026-01-02T03:04:05.000000006Z -->"

// criticalJustNow is a state after the third failure, of which the next look is not due.
func criticalJustNow() string {
	return fmt.Sprintf(`{"last_health_status":"critical","continuous_failure_count":3,"total_errors_detected":9,"last_error_id":"e1\n::error::","last_error_summary":"refused","updated_at":%q,
		"signalbox":{"critical_since":"2026-01-02T03:04:05.000000006Z"}}`, time.Now().Format(time.RFC3339))
}

// push has a person change a file on the branch.
func (s *site) push(name, content string) {
	s.Helper()
	s.fresh()
	s.write(name, content)
	s.git("add", name)
	s.git("commit", "--quiet", "--message", "Change "+name)
	s.git("push", "--quiet", "origin", "main")
}

// fresh returns a new clone's view of the branch.
func (s *site) fresh() {
	s.Helper()
	s.git("fetch", "--quiet", "origin")
	s.git("checkout", "--quiet", "-B", "main", "origin/main")
}

var instant = regexp.MustCompile(`"(cooldown_until|updated_at|next_run_at)": ?"([^"]+)"`)

// older is a state that was saved some time before.
func older(t *testing.T, state string, by time.Duration) string {
	t.Helper()
	return instant.ReplaceAllStringFunc(state, func(text string) string {
		match := instant.FindStringSubmatch(text)
		at, err := time.Parse(time.RFC3339, match[2])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`"%s": %q`, match[1], at.Add(-by).Format(time.RFC3339))
	})
}

// later lets time go by: what the last state says is that much older.
func (s *site) later(t *testing.T, by time.Duration) {
	t.Helper()
	files := unpacked(t, s.newest())
	for name := range files {
		files[name] = older(t, files[name], by)
	}
	i := slices.IndexFunc(s.artifacts, func(a saved) bool { return a.name == stateName })
	s.artifacts[i].zip = packed(t, files)
}
