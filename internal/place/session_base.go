package place

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/engine"
	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/machine"
)

// Needed is the work of a request that another one depends on.
type Needed struct {
	Number int
	Commit string
}

// ErrWorkConflicts: the work of the requests that a request depends on can't be merged.
var ErrWorkConflicts = errors.New("the work that it depends on does not fit together")

// Merger is the author of commits that merge work.
var Merger = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}

// WorkOf saves the work in a run's environment on a ref, without removing it, and returns the commit; empty if there is
// nothing beyond the base. For a run that is over, it returns the work that was saved.
func (p *Places) WorkOf(ctx context.Context, run workflow.Run) (commit string, err error) {
	if run.State.Final() {
		if run.Details.KeptRef == "" {
			return "", nil
		}
		return p.Repo.Resolve(ctx, run.Details.KeptRef)
	}
	lock, run, err := p.hold(ctx, workflow.RefOf(&run), "session start")
	if err != nil {
		return "", err
	}
	defer func() { p.logged("release request lock", &run, lock.Release()) }()
	if run.Details.EnvID == "" {
		return "", nil
	}
	if exists, err := p.Exists(&run); err != nil {
		return "", err
	} else if !exists {
		return p.removedWork(ctx, &run)
	}
	if commit, err = p.Unrecorded(ctx, &run); err != nil || commit == run.Details.BaseCommit {
		return "", err
	}
	return commit, p.SaveWork(ctx, &run, commit)
}

// hold takes the request's lock and reads the run again.
func (p *Places) hold(ctx context.Context, ref workflow.RunRef, owner string) (engine.Lock, workflow.Run, error) {
	lock, err := p.Locks.LockRequest(ctx, ref.RequestID, engine.Owner{Name: owner, RunID: ref.RunID})
	if err != nil {
		return nil, workflow.Run{}, err
	}
	run, err := p.Runs.LoadRun(ctx, ref)
	if err != nil {
		return nil, run, errors.Join(err, lock.Release())
	}
	return lock, run, nil
}

func (p *Places) logged(doing string, run *workflow.Run, err error) {
	if err != nil {
		p.Logger.Warn(doing, "run", run.RunID, "err", err)
	}
}

// BeginSession brings a run's environment to its head plus the unmerged work that a session needs. changed is false if
// the environment has work already or lacks nothing. The run's own change never begins there, so the run merges only
// its own work.
func (p *Places) BeginSession(ctx context.Context, ref workflow.RunRef, needed []Needed) (changed bool, err error) {
	lock, run, err := p.hold(ctx, ref, "session start")
	if err != nil {
		return false, err
	}
	defer func() { p.logged("release request lock", &run, lock.Release()) }()
	env, err := p.Environments.Make(ctx, Spec(&run))
	if err != nil {
		return false, err
	}
	head := run.Details.Head
	if there, err := env.Record(ctx, head, "Work in the environment\n"); err != nil || there.Changed {
		return false, err
	}
	base, err := p.together(ctx, &run, needed)
	if err != nil || base == head {
		return false, err
	}
	writer, run, err := p.Runs.OpenRun(ctx, ref)
	if err != nil {
		return false, fmt.Errorf("%w: %w", engine.ErrNotSaved, err)
	}
	defer func() { p.logged("close run", &run, writer.Close()) }()
	if err = p.SaveWork(ctx, &run, base); err == nil {
		err = p.note(ctx, lock.Lost(), writer, &run, workflow.SessionBaseSet{Commit: base})
	}
	if err == nil {
		err = env.Reset(ctx, base, "")
	}
	if err != nil {
		return false, fmt.Errorf("begin with what it depends on: %w", err)
	}
	return true, nil
}

// note saves a fact about a run that no engine executes, unless the run's lock is lost.
func (p *Places) note(ctx context.Context, lost <-chan struct{}, writer engine.Writer, run *workflow.Run, event workflow.Event) error {
	select {
	case <-lost:
		return engine.ErrLost
	default:
	}
	next, _ := machine.Decide(*run, event, p.Now().UTC())
	if next.Details.Transition == run.Details.Transition {
		return nil
	}
	if err := writer.Save(context.WithoutCancel(ctx), &next, workflow.NameOf(event)); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrNotSaved, err)
	}
	*run = next
	return nil
}

// together returns a commit that has the run's head and all needed work.
func (p *Places) together(ctx context.Context, run *workflow.Run, needed []Needed) (head string, err error) {
	head = run.Details.Head
	for _, n := range needed {
		if behind, err := p.Repo.IsAncestor(ctx, n.Commit, head); err != nil {
			return "", err
		} else if behind {
			continue
		}
		if ahead, err := p.Repo.IsAncestor(ctx, head, n.Commit); err != nil {
			return "", err
		} else if ahead {
			head = n.Commit
			continue
		}
		tree, conflicts, err := p.Repo.MergeTree(ctx, head, n.Commit)
		if err != nil {
			return "", err
		}
		if len(conflicts) > 0 {
			return "", fmt.Errorf("%w: that of #%d conflicts with the rest in %s", ErrWorkConflicts, n.Number, redact.Line(strings.Join(conflicts, ", "), 300))
		}
		message := fmt.Sprintf("Begin request %s with the work of %d\n", run.Ref(), n.Number)
		if head, err = p.Repo.CommitTree(ctx, tree, []string{head, n.Commit}, message, Merger, p.Now()); err != nil {
			return "", err
		}
	}
	return head, nil
}
