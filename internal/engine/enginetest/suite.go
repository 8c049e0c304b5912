// Package enginetest is the suite that every engine passes, with any
// implementation of the documents and locks of runs: what a run leaves behind,
// how orders reach it, and that an engine may die at any save.
package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// Project is an engine's documents and locks, with what people and tests do to them.
type Project interface {
	engine.Runs
	engine.Locks
	CreateRun(ctx context.Context, run *workflow.Run) error
	LoadRun(ctx context.Context, ref workflow.RunRef) (workflow.Run, error)
	// Signal leaves a person's order for the run.
	Signal(ctx context.Context, ref workflow.RunRef, change func(*workflow.Signals) error) error
}

// Engine is the part of an engine that the suite uses.
type Engine interface {
	Run(ctx context.Context, requestID, owner string, which func(context.Context) (workflow.RunRef, error)) (workflow.Run, error)
}

// Suite names the engine and the documents under test.
type Suite struct {
	// Open returns a new project for one test.
	Open func(t *testing.T) Project
	// New returns the engine; nil is ours.
	New func(engine.Config) Engine
}

// Run runs every scenario.
func (s Suite) Run(t *testing.T) {
	t.Helper()
	if s.New == nil {
		s.New = func(c engine.Config) Engine { return engine.New(c) }
	}
	for name, scenario := range map[string]func(*testing.T, *fixture){
		"a run ends, and saves each step before it takes the step":   theLog,
		"a stop ends the current action, and the run can be resumed": stopped,
		"a canceled run ends":                             canceled,
		"what happens on the forge ends the wait for it":  woken,
		"an approval counts for the commit that it names": approved,
		"an early approval isn't lost":                    approvedEarly,
		"a host that lost its lock writes nothing more":   lost,
		"a former engine's save is refused":               fenced,
		"a run saved by an older version goes on":         upgraded,
		"a run waits for a slot and names its holder":     queued,
		"one request has one live run":                    held,
		"an engine may die at any save":                   crashes,
		"a person answers a question":                     asked,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scenario(t, s.fixture(t))
		})
	}
}

// fixture is a project, the world outside, and the run of the scenario.
type fixture struct {
	Suite
	project Project
	world   *world
	run     workflow.Run
}

func (s Suite) fixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Suite: s, project: s.Open(t)}
	f.world = &world{load: f.project.LoadRun, holds: func(workflow.ActionKind) bool { return false }, held: make(chan workflow.Action, 8)}
	t.Cleanup(func() {
		for _, problem := range f.world.problems {
			t.Error(problem)
		}
	})
	f.run = f.create(t, 1, false)
	return f
}

// begun is when all runs of the suite begin.
var begun = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func (f *fixture) create(t *testing.T, number int, manual bool) workflow.Run {
	t.Helper()
	id := string(rune('0' + number))
	run := workflow.New(workflow.Start{RequestID: "RQ-20260101-00" + id, RunID: "20260101-120000-00000" + id, Number: number, Title: "Fix it",
		RequestPath: "requests/" + id + ".md", Branch: "signalbox/" + id + "-fix-it", Base: "main",
		Settings: workflow.Settings{Workflow: workflow.WorkflowSimple, AutoApprove: !manual, Tests: []string{"true"}, Limits: workflow.DefaultLimits()}}, begun)
	if err := f.project.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	return run
}

// engine returns an engine as another process would start it.
func (f *fixture) engine(change func(*engine.Config)) Engine {
	c := engine.Config{Runs: f.project, Locks: f.project, Performer: f.world, MaxParallel: 1,
		// The clock is stopped, so everything has to be signaled.
		Clock: engine.Clock{Now: func() time.Time { return begun }, After: func(time.Duration) <-chan time.Time { return nil }}}
	if change != nil {
		change(&c)
	}
	return f.New(c)
}

func (f *fixture) execute(ctx context.Context, e Engine, run *workflow.Run) (workflow.Run, error) {
	return e.Run(ctx, run.RequestID, "suite", func(context.Context) (workflow.RunRef, error) { return workflow.RefOf(run), nil })
}

// ends executes the scenario's run and checks how it ended.
func (f *fixture) ends(t *testing.T, want workflow.State, code string) workflow.Run {
	t.Helper()
	run, err := f.execute(t.Context(), f.engine(nil), &f.run)
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, want, code)
	return run
}

func (f *fixture) check(t *testing.T, run *workflow.Run, want workflow.State, code string) {
	t.Helper()
	reason := ""
	if run.Error != nil {
		reason = run.Error.ReasonCode
	}
	if run.State != want || reason != code {
		t.Fatalf("the run is %s (%s: %+v), want %s (%s)", run.State, reason, run.Error, want, code)
	}
	saved, err := f.project.LoadRun(t.Context(), workflow.RefOf(run))
	if err != nil || saved.Details.Transition != run.Details.Transition || saved.State != run.State {
		t.Fatalf("saved is %s after %d transitions, and the engine returned %s after %d: %v", saved.State, saved.Details.Transition, run.State, run.Details.Transition, err)
	}
}

func (f *fixture) signal(t *testing.T, run *workflow.Run, change func(*workflow.Signals)) {
	t.Helper()
	err := f.project.Signal(t.Context(), workflow.RefOf(run), func(s *workflow.Signals) error {
		change(s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func command(kind workflow.CommandKind, commit string) func(*workflow.Signals) {
	return func(s *workflow.Signals) {
		s.Commands = append(s.Commands, workflow.Command{ID: string(kind) + commit, Kind: kind, Commit: commit, By: "ada"})
	}
}

func resume(s *workflow.Signals) { s.ResumeRequested = true }

// begin executes the run beside the test until an action of that kind is held. wait returns how the run ended.
func (f *fixture) begin(t *testing.T, e Engine, kind workflow.ActionKind) (action workflow.Action, wait func() (workflow.Run, error)) {
	t.Helper()
	f.hold(kind)
	type result struct {
		run workflow.Run
		err error
	}
	done := make(chan result, 1)
	go func() {
		run, err := f.execute(t.Context(), e, &f.run)
		done <- result{run, err}
	}()
	select {
	case action = <-f.world.held:
	case r := <-done:
		t.Fatalf("it ended before %s: %s, %v", kind, r.run.State, r.err)
	}
	return action, func() (workflow.Run, error) {
		r := <-done
		return r.run, r.err
	}
}

// hold makes actions of that kind wait until they're stopped; the empty kind holds none.
func (f *fixture) hold(kind workflow.ActionKind) {
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	f.world.holds = func(k workflow.ActionKind) bool { return k == kind }
}

func theLog(t *testing.T, f *fixture) {
	var seen []int
	e := f.engine(func(c *engine.Config) {
		c.Observe = func(run workflow.Run) { seen = append(seen, run.Details.Transition) }
	})
	run, err := f.execute(t.Context(), e, &f.run)
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.Done, "")
	if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) || seen[len(seen)-1] != run.Details.Transition {
		t.Errorf("observed transitions %d", seen)
	}
	if len(f.world.done) != f.world.performed || run.Details.MergeCommit == "" {
		t.Errorf("%d effects of %d actions: %q", len(f.world.done), f.world.performed, f.world.done)
	}
	again := f.ends(t, workflow.Done, "")
	if again.Details.Transition != run.Details.Transition || len(f.world.done) != f.world.performed {
		t.Error("a run that is over was executed again")
	}
}

func stopped(t *testing.T, f *fixture) {
	action, wait := f.begin(t, f.engine(nil), workflow.CallAgent)
	f.signal(t, &f.run, func(s *workflow.Signals) { s.StopRequested = true })
	run, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.NeedsInput, workflow.StopRequestedCode)
	f.hold("")
	if run = f.ends(t, workflow.NeedsInput, workflow.StopRequestedCode); len(run.Details.Pending) == 0 || run.Details.Pending[0].Kind != action.Kind {
		t.Errorf("pending is %+v", run.Details.Pending)
	}
	f.signal(t, &f.run, resume)
	f.ends(t, workflow.Done, "")
}

func canceled(t *testing.T, f *fixture) {
	_, wait := f.begin(t, f.engine(nil), workflow.RunTests)
	f.signal(t, &f.run, command(workflow.CommandCancel, ""))
	run, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.Canceled, "")
	if !run.Details.EnvRemoved && run.Details.EnvID != "" || run.Details.MergeCommit != "" {
		t.Errorf("left behind: %+v", run.Details)
	}
}

// woken holds the wait for ever: only the order can end it.
func woken(t *testing.T, f *fixture) {
	_, wait := f.begin(t, f.engine(nil), workflow.Wait)
	f.signal(t, &f.run, command(workflow.CommandWake, ""))
	run, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.Done, "")
	if len(run.Signals.Commands) > 0 {
		t.Errorf("commands are left: %+v", run.Signals.Commands)
	}
}

func approved(t *testing.T, f *fixture) {
	f.run = f.create(t, 2, true)
	run := f.ends(t, workflow.NeedsInput, workflow.ApprovalRequired)
	f.signal(t, &f.run, command(workflow.CommandApprove, "of another time"))
	f.ends(t, workflow.NeedsInput, workflow.ApprovalRequired)
	f.signal(t, &f.run, command(workflow.CommandApprove, run.Details.Head))
	if run = f.ends(t, workflow.Done, ""); run.Details.Approval == nil || run.Details.Approval.By != "ada" {
		t.Errorf("approved by %+v", run.Details.Approval)
	}
}

// approvedEarly approves while the run is elsewhere: the order waits in the document.
func approvedEarly(t *testing.T, f *fixture) {
	f.run = f.create(t, 2, true)
	run := f.ends(t, workflow.NeedsInput, workflow.ApprovalRequired)
	f.signal(t, &f.run, func(s *workflow.Signals) { resume(s); command(workflow.CommandApprove, run.Details.Head)(s) })
	_, wait := f.begin(t, f.engine(nil), workflow.OpenPullRequest)
	f.signal(t, &f.run, command(workflow.CommandApprove, run.Details.Head))
	f.signal(t, &f.run, func(s *workflow.Signals) { s.StopRequested = true })
	run, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.NeedsInput, workflow.StopRequestedCode)
	f.hold("")
	f.signal(t, &f.run, resume)
	f.ends(t, workflow.Done, "")
}

// losable are locks whose request locks can be lost.
type losable struct {
	engine.Locks
	lost chan struct{}
}

func (l losable) LockRequest(ctx context.Context, id string, owner engine.Owner) (engine.Lock, error) {
	lock, err := l.Locks.LockRequest(ctx, id, owner)
	if err != nil {
		return nil, err
	}
	return losableLock{lock, l.lost}, nil
}

type losableLock struct {
	engine.Lock
	lost chan struct{}
}

func (l losableLock) Lost() <-chan struct{} { return l.lost }

func lost(t *testing.T, f *fixture) {
	gone := make(chan struct{})
	e := f.engine(func(c *engine.Config) { c.Locks = losable{f.project, gone} })
	_, wait := f.begin(t, e, workflow.CallAgent)
	before, err := f.project.LoadRun(t.Context(), workflow.RefOf(&f.run))
	if err != nil {
		t.Fatal(err)
	}
	close(gone)
	if _, err := wait(); !errors.Is(err, engine.ErrLost) {
		t.Fatalf("it ended with %v", err)
	}
	after, err := f.project.LoadRun(t.Context(), workflow.RefOf(&f.run))
	if err != nil || after.Details.Transition != before.Details.Transition {
		t.Fatalf("it wrote transition %d after %d, %v", after.Details.Transition, before.Details.Transition, err)
	}
	f.hold("")
	run := f.ends(t, workflow.Done, "")
	if run.Details.Epoch <= before.Details.Epoch || f.world.swept == 0 {
		t.Errorf("the epoch was %d and is %d; processes were swept %d times", before.Details.Epoch, run.Details.Epoch, f.world.swept)
	}
}

func fenced(t *testing.T, f *fixture) {
	ref := workflow.RefOf(&f.run)
	former, old, err := f.project.OpenRun(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	former.Rest()
	defer func() { _ = former.Close() }()
	later, run, err := f.project.OpenRun(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	run, _ = machine.Decide(run, workflow.Admitted{Epoch: 5}, begun)
	if err := errors.Join(later.Save(t.Context(), &run, "Admitted"), later.Close()); err != nil {
		t.Fatal(err)
	}
	old, _ = machine.Decide(old, workflow.Admitted{Epoch: 4}, begun)
	if err := former.Save(t.Context(), &old, "Admitted"); !errors.Is(err, engine.ErrFenced) {
		t.Fatalf("it was saved: %v", err)
	}
}

// upgraded stops a run midway and resumes it from a document that lacks a key of this version and has an unknown one.
func upgraded(t *testing.T, f *fixture) {
	_, wait := f.begin(t, f.engine(nil), workflow.RunTests)
	f.signal(t, &f.run, func(s *workflow.Signals) { s.StopRequested = true })
	run, err := wait()
	if err != nil {
		t.Fatal(err)
	}
	run.RequestID, run.RunID = "RQ-20260101-003", "20260101-120000-000003"
	run.Signals, run.Details.Preparing = workflow.Signals{ResumeRequested: true, Unknown: workflow.Unknown{"of_a_later_version": []byte("1")}}, false
	if err := f.project.CreateRun(t.Context(), &run); err != nil {
		t.Fatal(err)
	}
	f.hold("")
	f.run = run
	if run = f.ends(t, workflow.Done, ""); run.Signals.Unknown["of_a_later_version"] == nil {
		t.Errorf("unknown keys became %s", run.Signals.Unknown)
	}
}

func queued(t *testing.T, f *fixture) {
	_, wait := f.begin(t, f.engine(nil), workflow.CallAgent)
	second := f.create(t, 2, false)
	waits := make(chan string, 8)
	e := f.engine(func(c *engine.Config) {
		c.Observe = func(run workflow.Run) {
			if run.State == workflow.Queued {
				waits <- run.Progress.Message
			}
		}
	})
	var group sync.WaitGroup
	var run workflow.Run
	var err error
	group.Go(func() { run, err = f.execute(t.Context(), e, &second) })
	if message := <-waits; !strings.Contains(message, "run 1") {
		t.Errorf("it says %q", message)
	}
	f.hold("")
	f.signal(t, &f.run, func(s *workflow.Signals) { s.StopRequested = true })
	if first, err := wait(); err != nil || first.State != workflow.NeedsInput {
		t.Errorf("the first is %s, %v", first.State, err)
	}
	group.Wait()
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.Done, "")
}

func held(t *testing.T, f *fixture) {
	_, wait := f.begin(t, f.engine(nil), workflow.CallAgent)
	if _, err := f.execute(t.Context(), f.engine(nil), &f.run); !errors.Is(err, engine.ErrHeld) {
		t.Errorf("a second engine got it: %v", err)
	}
	f.signal(t, &f.run, func(s *workflow.Signals) { s.StopRequested = true })
	if _, err := wait(); err != nil {
		t.Error(err)
	}
}

func asked(t *testing.T, f *fixture) {
	answers := make(chan workflow.Answer, 8)
	f.world.asks = func(ctx context.Context, p engine.Progress, a workflow.Action) {
		if a.Kind != workflow.CallAgent {
			return
		}
		q := workflow.Question{Key: a.Key, Kind: workflow.QuestionKind("permission"), Tool: "Bash", Text: "go vet"}
		answer, err := p.Ask(ctx, q, func(*workflow.Run) (workflow.Answer, bool) { return workflow.Answer{}, false })
		if err != nil {
			t.Error(err)
		}
		answers <- answer
	}
	said := make(chan error, 8)
	var group sync.WaitGroup
	defer group.Wait()
	e := f.engine(func(c *engine.Config) {
		c.Observe = func(run workflow.Run) {
			if q := run.Details.Question; q != nil {
				group.Go(func() {
					said <- f.project.Signal(t.Context(), workflow.RefOf(&run), func(s *workflow.Signals) error {
						s.Commands = append(s.Commands, workflow.Command{ID: "1", Kind: workflow.CommandAnswer, By: "ada",
							Answer: &workflow.Answer{Question: q.ID, Verdict: workflow.AnswerAllow}})
						return nil
					})
				})
			}
		}
	})
	run, err := f.execute(t.Context(), e, &f.run)
	if err != nil {
		t.Fatal(err)
	}
	f.check(t, &run, workflow.Done, "")
	if err := <-said; err != nil {
		t.Fatal(err)
	}
	if answer := <-answers; answer.Verdict != workflow.AnswerAllow || answer.By != "ada" {
		t.Errorf("the answer is %+v", answer)
	}
}
