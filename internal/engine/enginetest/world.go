package enginetest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// world is what actions change. All engines share it, and it outlives their crashes. It implements engine.Performer; like
// real actions, each looks for its own results first.
type world struct {
	load func(context.Context, workflow.RunRef) (workflow.Run, error)

	mu sync.Mutex
	// done are the effects by run and key, in order; performed counts every attempt.
	done      []string
	performed int
	// problems are the rules that an engine broke.
	problems []string
	// holds reports whether actions of a kind wait until their context ends.
	holds func(workflow.ActionKind) bool
	// held receives each action that waits.
	held  chan workflow.Action
	asks  func(context.Context, engine.Progress, workflow.Action)
	swept int
}

func (w *world) broken(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

func (w *world) Begin(context.Context, workflow.Run) error { return nil }

func (w *world) Holder(context.Context, workflow.Run) (int, error) { return 0, nil }

func (w *world) Sweep(context.Context, workflow.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.swept++
	return nil
}

func (w *world) Admit(_ context.Context, _ workflow.Run, a *workflow.Admitted) error {
	a.Isolation = "bubblewrap"
	return nil
}

func (w *world) Look(context.Context, workflow.Run) (workflow.Event, error) { return nil, nil }

// Project checks that everything shown was saved before.
func (w *world) Project(ctx context.Context, run workflow.Run) error {
	saved, err := w.load(context.WithoutCancel(ctx), workflow.RefOf(&run))
	if err != nil {
		return err
	}
	if saved.Details.Transition < run.Details.Transition {
		w.broken("transition %d is shown, but only %d is saved", run.Details.Transition, saved.Details.Transition)
	}
	return nil
}

// Perform checks that the action was saved as the next one, and notes its effect once.
func (w *world) Perform(ctx context.Context, run workflow.Run, a workflow.Action, p engine.Progress) workflow.Event {
	saved, err := w.load(context.WithoutCancel(ctx), workflow.RefOf(&run))
	if err != nil || len(saved.Details.Pending) == 0 || saved.Details.Pending[0].Key != a.Key || saved.State != workflow.Running {
		w.broken("%s is performed but wasn't saved as the next action (%v)", a.Key, err)
	}
	if w.asks != nil {
		w.asks(ctx, p, a)
	}
	w.mu.Lock()
	w.performed++
	holds := w.holds(a.Kind)
	w.mu.Unlock()
	if holds {
		w.held <- a
		<-ctx.Done()
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if effect := run.RunID + " " + a.Key; !slices.Contains(w.done, effect) {
		w.done = append(w.done, effect)
	}
	return outcome(&run, a)
}

// outcome returns the event of an action that succeeds. It depends on the run alone.
func outcome(run *workflow.Run, a workflow.Action) workflow.Event {
	o, j := workflow.Outcome{Key: a.Key}, &run.Details
	commit := fmt.Sprintf("c%039d", j.Orders)
	switch a.Kind {
	case workflow.CheckDependencies:
		return workflow.DependenciesChecked{Outcome: o}
	case workflow.CreateBranch:
		return workflow.BranchCreated{Outcome: o, BaseCommit: commit}
	case workflow.DetectEnvironment:
		return workflow.EnvironmentDetected{Outcome: o}
	case workflow.CreateEnvironment:
		return workflow.EnvironmentCreated{Outcome: o, EnvID: run.EnvironmentID(), Path: ".worktrees/issue-1-x", Isolation: "bubblewrap"}
	case workflow.RestoreEnvironment:
		return workflow.EnvironmentRestored{Outcome: o, Fingerprint: "f1"}
	case workflow.SnapshotEnvironment:
		return workflow.SnapshotTaken{Outcome: o}
	case workflow.ReadDesign:
		return workflow.DesignFound{Outcome: o}
	case workflow.CallAgent:
		return workflow.Implemented{Outcome: o, Summary: "did it"}
	case workflow.RecordChange:
		return workflow.ChangeRecorded{Outcome: o, Commit: commit, Files: []policy.FileChange{{Path: "a.go", OldMode: "100644", NewMode: "100644", Added: 1}},
			Whole: []policy.FileChange{{Path: "a.go", OldMode: "100644", NewMode: "100644", Added: 1}}}
	case workflow.WritePlan:
		return workflow.PlanWritten{Outcome: o, Path: "runs/" + run.RequestID + "/" + run.RunID + "/planning.json"}
	case workflow.RunTests:
		return workflow.TestsEnded{Outcome: o, Passed: true, Commit: j.Head, Command: "true"}
	case workflow.OpenPullRequest:
		return workflow.PullRequestOpened{Outcome: o, Number: 7}
	case workflow.WatchChecks:
		if j.Used.ChecksSince == nil {
			return workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPending, Summary: "lint is not there yet"}
		}
		return workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPassed, Candidate: workflow.Candidate{Head: j.Head, Base: j.BaseCommit, Tree: commit}}
	case workflow.MergePullRequest:
		return workflow.Merged{Outcome: o, Commit: commit}
	case workflow.RemoveEnvironment:
		return workflow.EnvironmentRemoved{Outcome: o, KeptRef: "refs/signalbox/kept/1/x"}
	case workflow.CloseRequest:
		return workflow.RequestClosed{Outcome: o}
	case workflow.Wait:
		return workflow.Waited{Outcome: o}
	case workflow.PostComment:
		return workflow.CommentPosted{Outcome: o}
	}
	return workflow.ActionFailed{Outcome: o, Error: workflow.Error{Category: workflow.CategoryExecution, ReasonCode: workflow.ActionFailedCode,
		Title: "the suite has no such action: " + string(a.Kind), Next: []workflow.NextStep{workflow.SeeDoctor}}}
}
