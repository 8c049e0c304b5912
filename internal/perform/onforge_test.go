package perform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/forge/forgetest"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/forge/standin"
	"signalbox/internal/workflow"
)

// RoundTrip lets the process die before and after a request.
func (p ports) RoundTrip(r *http.Request) (*http.Response, error) {
	return reachNamed(p.life, kindOf(r), func() (*http.Response, error) {
		return http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	})
}

var ofOneThing = regexp.MustCompile(`/?[0-9a-f]{40}|/[0-9]+`)

// kindOf is a request without what is of one thing alone.
func kindOf(r *http.Request) string {
	return r.Method + " " + ofOneThing.ReplaceAllString(r.URL.Path, "*")
}

// jumping is a clock that no one waits for.
type jumping struct {
	mu  sync.Mutex
	now time.Time
}

func (j *jumping) Now() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now
}

func (j *jumping) After(d time.Duration) <-chan time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = j.now.Add(max(d, 0))
	c := make(chan time.Time, 1)
	c <- j.now
	return c
}

// onForge is an outside whose issues and pull requests are on a stand-in for GitHub.
type onForge struct {
	*outside
	server *githubtest.Server
	// theirs: someone else merges the pull request, perhaps before its candidate was tested.
	theirs bool
}

// published are a project and the server's repository, made once.
var published struct {
	sync.Once
	project, server fs.FS
}

func newOnForge(t *testing.T) *onForge {
	t.Helper()
	s := githubtest.New(t)
	s.Issue("Change it", "Please.")
	published.Do(func() {
		s.Commit("main", map[string]string{"file.txt": "before\n"})
		s.Commit("main", map[string]string{"later": "1"}) // which a forced push can make anew
		o := &outside{t: t, root: t.TempDir()}
		if err := os.CopyFS(o.root, begun(t)); err != nil {
			t.Fatal(err)
		}
		o.git("", "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
		o.git("", "fetch", "-q", s.Repository, "main:refs/remotes/origin/main")
		o.git("", "reset", "-q", "--hard", "origin/main")
		published.project, published.server = forgetest.InMemory(t, o.root), forgetest.InMemory(t, s.Repository)
	})
	o := &onForge{outsideFrom(t, published.project), s, false}
	config, err := os.OpenFile(filepath.Join(o.root, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(config, "[remote \"origin\"]\n\turl = %s\n", s.Repository)
	}
	if err = errors.Join(err, config.Close(), os.RemoveAll(s.Repository), os.CopyFS(s.Repository, published.server)); err != nil {
		t.Fatal(err)
	}
	clock := &jumping{now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	o.clock = engine.Clock{Now: clock.Now, After: clock.After}
	o.forge = func(p ports) forge.Forge {
		server, err := github.New(github.Config{URL: s.URL, Owner: githubtest.Owner, Name: githubtest.Name, Client: &http.Client{Transport: p}, Now: clock.Now,
			Token: func(context.Context) (string, error) { return "ghp_ada", nil }})
		if err != nil {
			t.Error(err)
		}
		o.access = func() Access { return Access{Variable: "GITHUB_TOKEN"} }
		return hosted.New(hosted.Config{Server: server, Git: o.half(), Store: o.store, WithoutCI: true, Clock: clock.Now})
	}
	return o
}

// half is git's half of a forge on a server. Every candidate passes.
func (o *outside) half() *local.Forge {
	passes := func(context.Context, local.Candidate) (local.Verdict, error) {
		return local.Verdict{Passed: true, Command: "true"}, nil
	}
	return local.New(local.Config{Repo: o.repo, Store: o.store, Root: o.root, Test: passes, Hosted: true})
}

// straight performs each action in one process, which lives on.
type straight struct {
	dying
	// before is called before an action is performed.
	before func(workflow.Action)
}

func (s straight) Perform(ctx context.Context, run workflow.Run, a workflow.Action, p engine.Progress) workflow.Event {
	s.before(a)
	return s.process(ctx, nil).Perform(ctx, run, a, p)
}

// start makes the run of issue 1.
func (o *outside) start(t *testing.T, s workflow.Settings) workflow.RunRef {
	t.Helper()
	s.Workflow, s.PushesTo, s.Tests, s.Limits = workflow.WorkflowSimple, "origin", []string{"true"}, workflow.DefaultLimits()
	run := workflow.New(workflow.Start{RequestID: "1", RunID: "20260101-120000-abcdef", Number: 1, Title: "Change it", Branch: "signalbox/1-change-it", Base: "main", Settings: s}, o.clock.Now().UTC())
	if err := o.store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	return workflow.RefOf(&run)
}

// goOn takes the run as far as possible.
func (o *outside) goOn(t *testing.T, p engine.Performer, ref workflow.RunRef) workflow.Run {
	t.Helper()
	e := engine.New(engine.Config{Runs: o.store, Locks: o.store, Performer: p, Clock: o.clock})
	run, err := e.Run(t.Context(), ref.RequestID, "test", func(context.Context) (workflow.RunRef, error) { return ref, nil })
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// isDone wants one pull request, one merge, one progress comment, and the issue closed.
func (o *onForge) isDone(t *testing.T, run workflow.Run) {
	t.Helper()
	if run.State != workflow.Done {
		t.Fatalf("the run is %s, %+v", run.State, run.Error)
	}
	o.server.With(func(st *githubtest.State) {
		comments := map[string]int{}
		for _, c := range st.Comments {
			mark, _, _ := strings.Cut(c.Body, "\n")
			comments[mark]++
		}
		for mark, n := range comments {
			if n > 1 {
				t.Errorf("there are %d comments %s", n, mark)
			}
		}
		for _, p := range st.Pulls {
			tested := slices.DeleteFunc(strings.Split(p.Body, "\n"), func(row string) bool { return !strings.HasPrefix(row, "| merge candidate | `"+run.Details.Head[:10]) })
			if once := slices.Compact(slices.Sorted(slices.Values(tested))); len(once) != len(tested) || len(once) == 0 && !o.theirs {
				t.Errorf("the pull request has the tests of merge candidates %q:\n%s", tested, p.Body)
			}
		}
		if issue := st.Issues[1]; len(st.Pulls) != 1 || issue != nil && !issue.Closed || len(comments) == 0 {
			t.Errorf("%d pull requests, the issue is %+v, comments %v", len(st.Pulls), issue, comments)
		}
	})
	merges := strings.Fields(o.server.MustRun("", "rev-list", "--merges", "main"))
	if len(merges) != 1 || merges[0] != run.Details.MergeCommit {
		t.Errorf("main has the merges %v, the run %s", merges, run.Details.MergeCommit)
	}
}

func TestEveryActionOnAForgeMayBePerformedTwiceAndAfterACrash(t *testing.T) {
	t.Parallel()
	o := newOnForge(t)
	d := newDying(o.outside)
	o.isDone(t, o.goOn(t, d, o.start(t, workflow.Settings{AutoApprove: true})))
	for _, kind := range []workflow.ActionKind{workflow.OpenPullRequest, workflow.WatchChecks, workflow.MergePullRequest, workflow.CloseRequest} {
		if d.deaths[kind] < 5 {
			t.Errorf("%d processes died in %s", d.deaths[kind], kind)
		}
	}
}

// losses are the answers that were lost.
type losses struct {
	mu  sync.Mutex
	all map[string]bool
	// sampled: one of each kind of change is lost. Otherwise it's each of a run's, known by its action and by how many were before it.
	sampled bool
	// seen are the changes of this run, last the one before, and in the actions that lost an answer.
	seen map[string]int
	last string
	in   map[workflow.ActionKind]bool
	now  workflow.ActionKind
	// left: there are more to lose.
	left bool
}

func (l *losses) begin(a workflow.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = a.Kind
}

// lose says whether an answer is lost: one that never was, and one of each action, which is given up after a few.
func (l *losses) lose(r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := r.Method + " " + r.URL.Path
	which, repeats := fmt.Sprintf("%s %s %d", l.now, what, l.seen[what]), what == l.last
	if l.sampled {
		which = kindOf(r)
	}
	l.last = ""
	if repeats {
		return false
	}
	l.seen[what]++
	if l.all[which] {
		return false
	}
	if l.in[l.now] {
		l.left = true
		return false
	}
	l.all[which], l.in[l.now], l.last = true, true, what
	return true
}

// untilAllWereLost executes runs until no answer is left to lose, and returns how many were lost. A run that lost one may have more than the one before.
func untilAllWereLost(t *testing.T, sampled bool, run func(*losses)) int {
	t.Helper()
	all := map[string]bool{}
	for more := true; more && !t.Failed(); {
		l := &losses{all: all, sampled: sampled, seen: map[string]int{}, in: map[workflow.ActionKind]bool{}}
		run(l)
		more = l.left || !sampled && len(l.in) > 0
	}
	t.Logf("%d answers were lost", len(all))
	return len(all)
}

// A request that changes something is performed, and its answer lost: each of a whole run's. A run repeats what may have failed.
func TestARunSurvivesEveryLostAnswer(t *testing.T) {
	t.Parallel()
	lost := untilAllWereLost(t, false, func(l *losses) {
		o := newOnForge(t)
		o.server.Inject(standin.Fault{Changes: true, Which: l.lose, Times: -1, Lose: true})
		p := straight{dying{outside: o.outside}, l.begin}
		o.isDone(t, o.goOn(t, p, o.start(t, workflow.Settings{AutoApprove: true})))
	})
	if lost < 40 {
		t.Error("they are fewer than a run needs")
	}
}

// While a run waits for an approval, its pull request shows the test of the merge candidate. A check that turns red then runs again once, and then goes to
// the agent; its log is read only for that.
func TestACheckThatTurnsRedWhilePeopleAreWaitedForIsSeen(t *testing.T) {
	t.Parallel()
	o := newOnForge(t)
	var calls []workflow.ActionKind
	looks := 0
	shown := func(head string) (n int) {
		o.server.With(func(st *githubtest.State) {
			for _, p := range st.Pulls {
				n += strings.Count(p.Body, "| merge candidate | `"+head[:10])
			}
		})
		return n
	}
	p := straight{dying{outside: o.outside}, func(a workflow.Action) {
		if calls = append(calls, a.Kind); a.Kind != workflow.WatchChecks {
			return
		}
		head := o.server.Head("signalbox/1-change-it")
		switch looks++; looks {
		case 3:
			if shown(head) != 1 {
				t.Error("the pull request lacks the test of its merge candidate")
			}
			o.server.Job(head, "late", "failure", githubtest.Job{Log: "flaked"})
		case 4:
			o.server.EndJob("late", "failure")
		case 6:
			if shown(head) != 0 {
				t.Error("the new change has a test of its own before it ran")
			}
		case 8:
			o.server.With(func(st *githubtest.State) {
				for _, p := range st.Pulls {
					p.Reviews = append(p.Reviews, &githubtest.Review{ID: 1, Author: "grace", State: "APPROVED", Commit: head, At: st.Now})
				}
			})
		}
	}}
	run := o.goOn(t, p, o.start(t, workflow.Settings{ApproveOnForge: true}))
	o.isDone(t, run)
	logs := 0
	for _, r := range o.server.Requests() {
		if strings.HasSuffix(r.Line, "/logs") {
			logs++
		}
	}
	fixed := slices.ContainsFunc(run.Details.Evidence, func(e workflow.Evidence) bool { return e.Check == "late" && !e.Passed })
	if n := strings.Count(fmt.Sprint(calls), string(workflow.RerunChecks)); !fixed || n != 1 || logs != 1 || run.Counters.ImplementerCalls != 2 || run.Details.Approval.By != "grace" {
		t.Errorf("it ran again %d times, its log was read %d times, an agent was called %d times; the evidence is %+v", n, logs, run.Counters.ImplementerCalls, run.Details.Evidence)
	}
}

// A job that passes at the second attempt is evidence of its own.
func TestAFlakyJobIsNamedAndCostsNoCallOfAnAgent(t *testing.T) {
	t.Parallel()
	o := newOnForge(t)
	failed := false
	var calls []workflow.ActionKind
	p := straight{dying{outside: o.outside}, func(a workflow.Action) {
		switch calls = append(calls, a.Kind); {
		case a.Kind == workflow.WatchChecks && !failed:
			failed = true
			o.server.Job(o.server.Head("signalbox/1-change-it"), "test", "failure", githubtest.Job{Log: "flaked"})
		case a.Kind == workflow.WatchChecks:
			o.server.EndJob("test", "success")
		}
	}}
	run := o.goOn(t, p, o.start(t, workflow.Settings{AutoApprove: true}))
	o.isDone(t, run)
	count := func(kind workflow.ActionKind) (n int) {
		for _, k := range calls {
			if k == kind {
				n++
			}
		}
		return n
	}
	last := run.Details.Evidence[len(run.Details.Evidence)-1]
	if last.Check != "test" || !last.Passed || run.Details.Used.CIFailures != 0 || count(workflow.RerunChecks) != 1 || count(workflow.CallAgent) != 1 {
		t.Errorf("the evidence is %+v; it ran again %d times, and an agent was called %d times", last, count(workflow.RerunChecks), count(workflow.CallAgent))
	}
}
