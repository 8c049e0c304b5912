package heal_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/rest"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// ending is what happens at one call of the forge.
type ending string

const (
	killed ending = "killed after"
	lost   ending = "answer lost at"
)

// hub is a project whose CI and issues are on a stand-in for GitHub. Each pass is a process of its own; the call with number at ends as how says.
type hub struct {
	t     *testing.T
	s     *githubtest.Server
	clock *clock
	dir   string
	store *store.Store
	how   ending
	at    int

	mu    sync.Mutex
	calls int
	// writes are the calls that change something there.
	writes []int
	kill   context.CancelFunc
	dead   bool
}

// ci is the check of the stand-in's CI.
var ci = workflow.HealthCheck{ID: "ci", Kind: workflow.HealthForgeCI, Severity: workflow.Major, TimeLimitMS: 60_000, Looks: 1}

func newHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{t: t, s: githubtest.New(t), clock: &clock{at: begin}, at: -1}
	var err error
	if h.dir, err = os.MkdirTemp("/dev/shm", "signalbox"); err != nil { // what is in memory is durable at once
		h.dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(h.dir) })
	if h.store, err = store.Open(t.Context(), store.Config{Root: h.dir, Clock: h.clock.now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	h.s.With(func(st *githubtest.State) {
		st.Still = true
		st.CheckRuns = []*githubtest.CheckRun{{ID: 7, Commit: h.s.Head("main"), Name: "test", Status: "completed", Conclusion: "failure", Title: "order 17 has no price", App: 15368,
			Details: h.s.URL + "/octo-org/engine/actions/runs/1/job/7"}}
		st.Jobs[7] = &githubtest.Job{Run: 1, Log: "2026-02-02T11:00:00Z --- FAIL: TestPrice\n2026-02-02T11:00:00Z order 17 has no price, says @ada\n"}
	})
	return h
}

// tip is the git half: the branch is as on the server.
type tip struct {
	hosted.Git
	s *githubtest.Server
}

func (g tip) Tip(_ context.Context, branch string) (string, bool, error) {
	return g.s.Head(branch), false, nil
}

// RoundTrip is the network.
func (h *hub) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	n, ends := h.calls, h.calls == h.at
	h.calls++
	if r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/graphql") {
		h.writes = append(h.writes, n)
	}
	if ends && h.how != lost {
		h.dead = true
		defer h.kill()
	}
	dead := h.dead
	h.mu.Unlock()
	cut := fmt.Errorf("call %d was cut", n)
	if dead && !ends {
		return nil, cut
	}
	inside := r.Clone(r.Context())
	if inside.Body == nil {
		inside.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	h.s.ServeHTTP(answer, inside)
	if ends {
		return nil, cut
	}
	return answer.Result(), nil
}

// pass makes one, in a new process, after the time that the loop waits.
func (h *hub) pass() (heal.Report, error) {
	h.t.Helper()
	h.clock.move(health.RepairCooldown + time.Minute)
	h.s.With(func(st *githubtest.State) { st.Now = h.clock.now() })
	ctx, kill := context.WithCancel(h.t.Context())
	defer kill()
	h.mu.Lock()
	h.kill, h.dead = kill, false
	h.mu.Unlock()
	calls := budget.New(budget.Config{Base: h, Kind: rest.Kind, Limit: github.Limit, Query: github.Query, FreeUnchanged: true, Now: h.clock.now})
	driver, err := github.New(github.Config{URL: h.s.URL, Owner: githubtest.Owner, Name: githubtest.Name, Client: &http.Client{Transport: calls}, Now: h.clock.now,
		Token: func(context.Context) (string, error) { return "ghp_ada", nil }})
	if err != nil {
		h.t.Fatal(err)
	}
	f := hosted.New(hosted.Config{Server: driver, Git: tip{s: h.s}, Store: h.store, Clock: h.clock.now})
	config := heal.Config{Store: h.store, Forge: f, Checks: []workflow.HealthCheck{ci}, Tests: []string{"true"}, Every: 5 * time.Minute, Root: h.dir,
		Redact: redact.New(nil), Clock: h.clock.now, ID: func() string { return rand.Text() },
		Branch: func(ctx context.Context) (forge.Check, error) { return f.BranchCheck(ctx, "main") },
		Run: func(_ context.Context, r heal.Repair) (workflow.Run, error) {
			run := workflow.Run{RequestID: r.Request.ID, RunID: h.clock.now().Format("20060102-150405-") + "000001", State: workflow.Failed,
				Error: &workflow.Error{ReasonCode: "TESTS_FAILED", Title: "the tests still fail after every attempt"}}
			run.Details.Number, run.Details.Settings.Check = r.Request.Number, &r.Check
			return run, nil
		}}
	return config.Pass(ctx)
}

// passes until a state is reached.
func (h *hub) passes(until string, reached func(health.State) bool) {
	h.t.Helper()
	var last error
	for range 15 {
		_, last = h.pass()
		state, err := h.store.Health().Load(h.t.Context())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			h.t.Fatal(err)
		}
		if err == nil && last == nil && reached(state) {
			return
		}
	}
	h.t.Fatalf("%s call %d: it never becomes %s: %v", h.how, h.at, until, last)
}

func (h *hub) becomesCritical() {
	h.t.Helper()
	h.passes("critical", func(s health.State) bool { return s.LastHealthStatus == health.Critical && s.Loop.Request != "" })
}

// mended: CI passes now, as after a person pushed a fix.
func (h *hub) mended() {
	h.s.With(func(st *githubtest.State) { st.CheckRuns[0].Conclusion = "success" })
}

// issues returns them by the first word of their titles: how many there are, are open, and have a comment.
func (h *hub) issues() (text string) {
	h.s.With(func(st *githubtest.State) {
		for _, title := range []string{"Health", "Self-healing"} {
			all, open, comments := 0, 0, 0
			for number, i := range st.Issues {
				if !strings.HasPrefix(i.Title, title) {
					continue
				}
				if all++; !i.Closed {
					open++
				}
				for _, c := range st.Comments {
					if c.Number == number {
						comments++
					}
				}
			}
			text += fmt.Sprintf("%s: %d, %d open, %d comments; ", title, all, open, comments)
		}
	})
	return text
}

func TestACriticalStateHasOneIssueThatClosesByItself(t *testing.T) {
	t.Parallel()
	life := func(t *testing.T, how ending, at int) *hub {
		t.Helper()
		h := newHub(t)
		h.how, h.at = how, at
		h.becomesCritical()
		h.passes("critical again", func(s health.State) bool { return s.LastHealthStatus == health.Critical })
		if got := h.issues(); got != "Health: 1, 1 open, 0 comments; Self-healing: 1, 1 open, 0 comments; " {
			t.Errorf("%s call %d, when it is critical: %s", how, at, got)
		}
		h.mended()
		h.passes("healthy", func(s health.State) bool { return s.LastHealthStatus == health.Healthy && len(s.Loop.Unclosed) == 0 })
		if got := h.issues(); got != "Health: 1, 0 open, 1 comments; Self-healing: 1, 0 open, 1 comments; " {
			t.Errorf("%s call %d, when it is healthy: %s", how, at, got)
		}
		return h
	}
	undisturbed := life(t, "", -1)
	if len(undisturbed.writes) != 6 { // two issues are opened, remarked and closed
		t.Errorf("there are writes at %v", undisturbed.writes)
	}
	points := map[ending][]int{lost: undisturbed.writes} // a read that is lost is an error, and read again
	for at := range undisturbed.calls {
		points[killed] = append(points[killed], at)
	}
	for _, how := range []ending{killed, lost} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			for _, at := range points[how] {
				life(t, how, at)
			}
		})
	}
}

func TestClosingTheCriticalIssueOnTheForgeBeginsRepairsAgain(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.becomesCritical()
	h.s.With(func(st *githubtest.State) {
		for _, i := range st.Issues {
			if strings.Contains(i.Body, "says @ada") {
				t.Errorf("an issue mentions a person: %s", i.Body)
			}
			i.Closed = strings.HasPrefix(i.Title, "Self-healing")
		}
	})
	if report, err := h.pass(); err != nil || report.Result != health.PassFailed || len(report.Pass.Repairs) != 1 {
		t.Errorf("the pass came to %+v, %v, want a repair", report, err)
	}
}

func TestOnlyCIOfTheNewestCommitIsJudged(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	run := func(status, conclusion, commit string) {
		h.s.With(func(st *githubtest.State) {
			st.CheckRuns[0].Status, st.CheckRuns[0].Conclusion, st.CheckRuns[0].Commit = status, conclusion, commit
		})
	}
	for _, c := range []struct {
		name, status, conclusion, commit string
		want                             heal.LookOutcome
		says                             string
	}{
		{"it failed", "completed", "failure", h.s.Head("main"), heal.LookFailed, `check "test" failed: order 17 has no price`},
		{"it runs", "in_progress", "", h.s.Head("main"), heal.LookUnknown, "waiting for the forge: test"},
		{"it passed", "completed", "success", h.s.Head("main"), heal.LookPassed, ""},
		{"it passed earlier", "completed", "success", strings.Repeat("a", 40), heal.LookUnknown, "no CI has looked"},
	} {
		run(c.status, c.conclusion, c.commit)
		report, err := h.pass()
		if err != nil || len(report.Looks) != 1 || report.Looks[0].Outcome != c.want || !strings.Contains(report.Looks[0].Message, c.says) {
			t.Errorf("%s: %+v, %v, want %s", c.name, report.Looks, err, c.want)
		}
	}
	// The same failure has the same id in another run of CI.
	ids := map[string]bool{}
	for job := range 2 {
		h.s.With(func(st *githubtest.State) {
			st.CheckRuns[0].ID = int64(7 + job)
			st.CheckRuns[0].Details = fmt.Sprintf("%s/octo-org/engine/actions/runs/%d/job/%d", h.s.URL, 40+job, 7+job)
			st.Jobs[int64(7+job)] = &githubtest.Job{Run: 1, Log: fmt.Sprintf("2026-02-02T11:0%d:00Z --- FAIL: TestPrice\n2026-02-02T11:0%d:01Z order 17 has no price\n", job, job)}
		})
		run("completed", "failure", h.s.Head("main"))
		report, err := h.pass()
		if err != nil || len(report.Looks) != 1 || report.Looks[0].ErrorID == "" {
			t.Fatalf("the pass came to %+v, %v", report.Looks, err)
		}
		ids[report.Looks[0].ErrorID] = true
	}
	if len(ids) != 1 {
		t.Errorf("one failure has the ids %v", ids)
	}
}
