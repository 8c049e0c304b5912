package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/store"
)

// TestAnHourOfFiftyRuns counts what GitHub counts while fifty processes, with a run each, wait for an hour by an injected clock. By polling, the first half
// push their changes one after the other, and three jobs of CI judge each; the second half wait for people, as a look before the hour found: ten get a
// discussion, and ten others an approval. With webhooks, five get an approval. The figures are in docs/forges.md.
func TestAnHourOfFiftyRuns(t *testing.T) {
	t.Parallel()
	h := newHour(t)
	for _, c := range []struct {
		name       string
		webhooks   bool
		paid, sent int
	}{
		{name: "polling", paid: 445, sent: 4525},
		{name: "webhooks", webhooks: true, paid: 51, sent: 849},
	} {
		if paid, sent := h.pass(c.webhooks); paid != c.paid || sent != c.sent {
			t.Errorf("%s: %d of %d calls were paid for, and docs/forges.md says %d of %d", c.name, paid, sent, c.paid, c.sent)
		}
	}
	if paid, sent := h.idle(); paid != 0 || sent != 60 {
		t.Errorf("idle: %d of %d calls were paid for", paid, sent)
	}
}

const fifty = 50

// hour is fifty runs, and the hours that pass.
type hour struct {
	t      *testing.T
	s      *githubtest.Server
	store  *store.Store
	shared string
	now    time.Time
	runs   []*waiting
	events []event
	// webhooks: they tell of what happens.
	webhooks bool
}

// waiting is a run that waits for the forge, in a process of its own.
type waiting struct {
	issue, pull int
	head        string
	forge       *hosted.Forge
	git         *gitHalf
	// next is when it looks again; zero if it doesn't.
	next time.Time
	// forPeople: its checks passed. looks counts since then.
	forPeople bool
	looks     int
	known     []string
	reply     string // the discussion that is being addressed
}

// event is what happens on the forge. wakes: a webhook tells the run.
type event struct {
	at    time.Time
	run   *waiting
	wakes bool
	do    func(*githubtest.State)
}

// gitHalf is the half of the forge on this machine: its tests passed.
type gitHalf struct {
	hosted.Git
	pr forge.PullRequest
}

func (g *gitHalf) PullRequest(context.Context, int) (forge.PullRequest, error) { return g.pr, nil }
func (g *gitHalf) Follow(context.Context, string) (bool, error)                { return false, nil }
func (g *gitHalf) Touched(context.Context, string, string, []string) ([]string, string, error) {
	return nil, "", nil
}
func (g *gitHalf) Checks(context.Context, int) (forge.Check, error) {
	return forge.Check{State: forge.CheckPassed, Head: g.pr.Head}, nil
}

// direct reaches the stand-in without a network.
type direct struct{ s *githubtest.Server }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	inside := r.Clone(r.Context())
	if inside.Body == nil {
		inside.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	d.s.ServeHTTP(answer, inside)
	return answer.Result(), nil
}

func newHour(t *testing.T) *hour {
	t.Helper()
	h := &hour{t: t, s: githubtest.New(t), shared: filepath.Join(inMemory(t), "forge"), now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	h.store = must(store.Open(t.Context(), store.Config{Root: t.TempDir()}))(t)
	t.Cleanup(func() { _ = h.store.Close() })
	var commits strings.Builder // one call of git for all
	for i := range fifty {
		_, _ = fmt.Fprintf(&commits, "commit refs/heads/signalbox/%d\ncommitter A <a@example.org> %d +0000\ndata 2\n%02d\nfrom %s\n\n", i, h.now.Unix(), i, h.s.Head("main"))
	}
	h.s.MustRun(commits.String(), "fast-import", "--quiet")
	for i := range fifty {
		branch := fmt.Sprintf("signalbox/%d", i)
		r := &waiting{issue: h.s.Issue("Count", ""), head: h.s.Head(branch)}
		h.s.With(func(st *githubtest.State) {
			r.pull = 1000 + i
			st.Pulls[r.pull] = &githubtest.Pull{Title: "Count", Author: githubtest.Person, Owner: githubtest.Owner, Branch: branch, Base: "main", Created: h.now, Updated: h.now}
		})
		h.runs = append(h.runs, r)
	}
	h.s.With(func(st *githubtest.State) { st.Still = true })
	h.start()
	for _, r := range h.runs {
		h.announce(r, "begun")
	}
	return h
}

// inMemory is a folder for thousands of small files, in memory if that can be.
func inMemory(t *testing.T) string {
	t.Helper()
	at, err := os.MkdirTemp("/dev/shm", "signalbox")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) })
	return at
}

// start starts a new process for each run.
func (h *hour) start() {
	clock := func() time.Time { return h.now }
	for i, r := range h.runs {
		c := counted(clock)
		c.Base, c.Folder = direct{h.s}, h.shared
		driver := open(h.t, github.Config{URL: h.s.URL, Owner: githubtest.Owner, Name: githubtest.Name, Token: token("ghp_ada"), Client: &http.Client{Transport: budget.New(c)}, Now: clock})
		r.git = &gitHalf{pr: forge.PullRequest{Number: r.pull, Branch: fmt.Sprintf("signalbox/%d", i), Base: "main", Head: r.head, State: forge.Open}}
		r.forge = hosted.New(hosted.Config{Server: driver, Git: r.git, Store: h.store, Clock: clock, Told: func() bool { return h.webhooks }, ToldOfPeople: func() bool { return h.webhooks }})
	}
}

func (h *hour) announce(r *waiting, text string) {
	h.t.Helper()
	ok(h.t, r.forge.Announce(h.t.Context(), forge.Request{Number: r.issue}, forge.Announcement{Run: "run", Progress: fmt.Sprint(text, " at ", h.now), Data: "{}"}))
}

// pass passes an hour of the next day, with new processes, and returns how many calls the server counted and how many there were.
func (h *hour) pass(webhooks bool) (paid, sent int) {
	h.now, h.webhooks = h.now.Add(24*time.Hour), webhooks
	h.s.With(func(st *githubtest.State) {
		st.CheckRuns = nil
		for _, p := range st.Pulls {
			p.Reviews, p.Threads = nil, nil
		}
	})
	h.start()
	h.script()
	for _, r := range h.runs[fifty/2:] { // a look has found that they wait for people
		must(r.forge.Opinions(h.t.Context(), r.pull))(h.t)
		must(r.forge.Reported(h.t.Context(), r.pull))(h.t)
	}
	before, _ := h.used()
	h.s.Requests()
	for end := h.now.Add(time.Hour); h.step(end); {
	}
	paid, sent = h.used()
	return paid - before, sent
}

func (h *hour) used() (paid, sent int) {
	h.s.With(func(st *githubtest.State) {
		for _, l := range st.Limits {
			paid += l.Used
		}
	})
	return paid, len(h.s.Requests())
}

// script says what happens in the hour.
func (h *hour) script() {
	h.events = nil
	begin := h.now
	happens := func(r *waiting, at time.Time, wakes bool, do func(*githubtest.State)) {
		h.events = append(h.events, event{at, r, wakes, do})
	}
	for i, r := range h.runs {
		r.next, r.forPeople, r.looks, r.known = begin.Add(time.Duration(i)*time.Second), i >= fifty/2, 0, nil
		if !r.forPeople {
			pushed := begin.Add(time.Duration(i) * 100 * time.Second)
			r.next, r.git.pr.UpdatedAt = pushed, pushed
			h.ci(r, pushed, happens)
			continue
		}
		r.git.pr.UpdatedAt = begin
		at := begin.Add(time.Duration(i-fifty/2) * 2 * time.Minute)
		switch {
		case h.webhooks && i%5 != 2:
		case i%5 < 2:
			happens(r, at, true, func(st *githubtest.State) {
				st.Pulls[r.pull].Threads = []*githubtest.Thread{{ID: fmt.Sprint("T", r.pull), Path: "a", Line: 1, Comments: []*githubtest.ThreadComment{{ID: int64(r.pull), Author: "grace", Body: "Why?", At: st.Now}}}}
				h.review(st, r, "COMMENTED")
			})
		case i%5 < 4:
			happens(r, at, true, func(st *githubtest.State) { h.review(st, r, "APPROVED") })
		}
	}
	slices.SortStableFunc(h.events, func(a, b event) int { return a.at.Compare(b.at) })
}

func (h *hour) review(st *githubtest.State, r *waiting, state string) {
	p := st.Pulls[r.pull]
	p.Reviews, p.Updated = append(p.Reviews, &githubtest.Review{ID: int64(r.pull), Author: "grace", State: state, Commit: r.head, At: st.Now}), st.Now
}

// ci runs three jobs: they are queued, begin, and end. In the hour of webhooks one is queued, and stays so.
func (h *hour) ci(r *waiting, pushed time.Time, happens func(*waiting, time.Time, bool, func(*githubtest.State))) {
	if h.webhooks {
		queued := &githubtest.CheckRun{ID: int64(r.pull), Commit: r.head, Name: "job", Status: "queued", App: 15368, Started: pushed}
		h.s.With(func(st *githubtest.State) { st.CheckRuns = append(st.CheckRuns, queued) })
		return
	}
	for j := range 3 {
		job := &githubtest.CheckRun{ID: int64(r.pull*10 + j), Commit: r.head, Name: fmt.Sprint("job ", j), Status: "queued", App: 15368, Started: pushed}
		happens(r, pushed.Add(5*time.Second), false, func(st *githubtest.State) { st.CheckRuns = append(st.CheckRuns, job) })
		happens(r, pushed.Add(time.Duration(20+10*j)*time.Second), false, func(*githubtest.State) { job.Status = "in_progress" })
		happens(r, pushed.Add(time.Duration(3+4*j)*time.Minute), true, func(st *githubtest.State) {
			now := st.Now
			job.Status, job.Conclusion, job.Completed = "completed", "success", &now
		})
	}
}

// step lets the next thing happen, and reports whether there was one.
func (h *hour) step(end time.Time) bool {
	var next *waiting
	for _, r := range h.runs {
		if !r.next.IsZero() && (next == nil || r.next.Before(next.next)) {
			next = r
		}
	}
	if len(h.events) > 0 && (next == nil || !h.events[0].at.After(next.next)) && h.events[0].at.Before(end) {
		e := h.events[0]
		h.events = h.events[1:]
		h.at(e.at)
		h.s.With(e.do)
		if e.wakes && h.webhooks && !e.run.next.IsZero() && e.run.reply == "" {
			e.run.next = h.now
		}
		return true
	}
	if next == nil || !next.next.Before(end) {
		h.at(end)
		return false
	}
	h.at(next.next)
	h.look(next)
	return true
}

func (h *hour) at(now time.Time) {
	h.now = now
	h.s.With(func(st *githubtest.State) { st.Now = now })
}

// look is what a run does each time: the same calls of the forge as perform makes, and the waits that the machine orders.
func (h *hour) look(r *waiting) {
	h.t.Helper()
	ctx := h.t.Context()
	if r.reply != "" { // the agent has addressed it
		ok(h.t, r.forge.Reply(ctx, r.pull, r.reply, r.reply, "Addressed."))
		h.announce(r, "waits for an approval")
		r.reply, r.looks = "", 0
	}
	said := must(r.forge.Opinions(ctx, r.pull))(h.t)
	for _, o := range said.Objections {
		if !slices.Contains(r.known, o.ID) {
			r.known, r.reply, r.next = append(r.known, o.ID), o.Thread, h.now.Add(4*time.Minute)
			h.announce(r, "fixes a finding")
			return
		}
	}
	if len(said.ApprovedBy) > 0 {
		h.announce(r, "approved")
		r.next = time.Time{}
		return
	}
	if !r.forPeople {
		_, err := r.forge.Checks(ctx, r.pull)
		var pending *forge.PendingError
		switch {
		case errors.As(err, &pending):
			r.next = pending.LookAgain
			return
		case errors.Is(err, forge.ErrNoChecks):
			r.next = h.now.Add(10 * time.Second)
			return
		}
		ok(h.t, err)
		h.announce(r, "waits for an approval")
		r.forPeople = true
	}
	if check := must(r.forge.Reported(ctx, r.pull))(h.t); check.State != forge.CheckPassed {
		h.t.Errorf("a check is %+v", check)
	}
	r.next = h.now.Add(min(10*time.Second<<min(r.looks, 8), 5*time.Minute))
	if said.LookAgain.After(r.next) {
		r.next = said.LookAgain
	}
	r.looks++
}

// idle passes an hour in which one process watches the forge, and nothing is in flight.
func (h *hour) idle() (paid, sent int) {
	h.now = h.now.Add(24 * time.Hour)
	server, _ := h.runs[0].forge.Server.(forge.Changing)
	look := func() {
		h.at(h.now.Add(time.Minute))
		must(server.Changes(h.t.Context(), h.now.Truncate(24*time.Hour)))(h.t)
	}
	look()
	before, _ := h.used()
	for range 60 {
		look()
	}
	paid, sent = h.used()
	return paid - before, sent
}
