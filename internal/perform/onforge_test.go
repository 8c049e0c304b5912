package perform

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/forge"
	"signalbox/internal/forge/github"
	"signalbox/internal/forge/github/githubtest"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/forge/local"
	"signalbox/internal/forge/standin"
	"signalbox/internal/workflow"
)

// RoundTrip lets the process die before and after a request.
func (p ports) RoundTrip(r *http.Request) (*http.Response, error) {
	return reach(p.life, func() (*http.Response, error) {
		return http.DefaultTransport.RoundTrip(r.WithContext(context.WithoutCancel(r.Context())))
	})
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
}

func newOnForge(t *testing.T) *onForge {
	t.Helper()
	s := githubtest.New(t)
	s.Issue("Change it", "Please.")
	s.Commit("main", map[string]string{"file.txt": "before\n"})
	s.Commit("main", map[string]string{"later": "1"}) // which a forced push can make anew
	o := &onForge{newOutside(t), s}
	o.git("", "remote", "add", "origin", s.Repository)
	o.git("", "fetch", "-q", "origin", "main")
	o.git("", "reset", "-q", "--hard", "origin/main")
	clock := &jumping{now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	o.clock = engine.Clock{Now: clock.Now, After: clock.After}
	o.forge = func(p ports) forge.Forge {
		server, err := github.New(github.Config{URL: s.URL, Owner: githubtest.Owner, Name: githubtest.Name, Client: &http.Client{Transport: p}, Now: clock.Now,
			Token: func(context.Context) (string, error) { return "ghp_ada", nil }})
		if err != nil {
			t.Error(err)
		}
		passes := func(context.Context, local.Candidate) (local.Verdict, error) {
			return local.Verdict{Passed: true, Command: "true"}, nil
		}
		half := local.New(local.Config{Repo: o.repo, Store: o.store, Root: o.root, Test: passes, Hosted: true})
		o.access = func() Access { return Access{Variable: "GITHUB_TOKEN"} }
		return hosted.New(hosted.Config{Server: server, Git: half, Store: o.store, WithoutCI: true, Clock: clock.Now})
	}
	return o
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
func (o *onForge) start(t *testing.T, s workflow.Settings) workflow.RunRef {
	t.Helper()
	s.Workflow, s.PushesTo, s.Tests, s.Limits = workflow.WorkflowSimple, "origin", []string{"true"}, workflow.DefaultLimits()
	run := workflow.New(workflow.Start{RequestID: "1", RunID: "20260101-120000-abcdef", Number: 1, Title: "Change it", Branch: "signalbox/1-change-it", Base: "main", Settings: s}, o.clock.Now().UTC())
	if err := o.store.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	return workflow.RefOf(&run)
}

// goOn takes the run as far as possible.
func (o *onForge) goOn(t *testing.T, p engine.Performer, ref workflow.RunRef) workflow.Run {
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
	d := dying{o.outside, map[workflow.ActionKind]int{}, ""}
	o.isDone(t, o.goOn(t, d, o.start(t, workflow.Settings{AutoApprove: true})))
	for _, kind := range []workflow.ActionKind{workflow.OpenPullRequest, workflow.WatchChecks, workflow.MergePullRequest, workflow.CloseRequest} {
		if d.deaths[kind] < 5 {
			t.Errorf("%d processes died in %s", d.deaths[kind], kind)
		}
	}
}

// A request that changes something is performed, and its answer lost: each of a whole run's, in turn. The run repeats what may have failed.
func TestARunSurvivesEveryLostAnswer(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		o := newOnForge(t)
		end := o.server.Inject(standin.Fault{Changes: true, Skip: n, Lose: true})
		p := straight{dying{outside: o.outside}, func(workflow.Action) {}}
		run := o.goOn(t, p, o.start(t, workflow.Settings{AutoApprove: true}))
		o.isDone(t, run)
		if t.Failed() || !end() {
			if n < 5 {
				t.Errorf("%d answers were lost", n)
			}
			return
		}
	}
}
