package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/git"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// Needed is the work of a request that another one depends on.
type Needed struct {
	Number int
	Commit string
}

// ErrWorkConflicts: the work of what a request depends on cannot be put together.
var ErrWorkConflicts = errors.New("the work that it depends on does not fit together")

// mergers makes the commits that put work together.
var mergers = git.Identity{Name: "Signalbox", Email: "signalbox@localhost"}

// WorkOf puts what lies in a run's environment on a ref, and leaves it there; it returns the commit,
// empty where there is none beyond the base. Of a run that is over it is what was kept.
func (r *Runner) WorkOf(ctx context.Context, run workflow.Run) (commit string, err error) {
	w := &work{Runner: r, ref: store.RefOf(&run), run: run}
	if run.State.Final() {
		if run.Journey.KeptRef == "" {
			return "", nil
		}
		return r.Repo.Resolve(ctx, run.Journey.KeptRef)
	}
	if err := w.hold(ctx); err != nil {
		return "", err
	}
	defer func() { w.logged("release request lock", w.request.Release()) }()
	if w.run.Journey.EnvID == "" {
		return "", nil
	}
	if commit, err = w.unrecorded(ctx); err != nil || commit == w.run.Journey.BaseCommit {
		return "", err
	}
	return commit, w.keep(ctx, commit)
}

// hold takes the request's lock and reads the run anew.
func (w *work) hold(ctx context.Context) (err error) {
	if w.request, err = w.Store.LockRequest(ctx, w.ref.RequestID, store.Owner{Name: "session start", RunID: w.ref.RunID}); err != nil {
		return err
	}
	if w.run, err = w.Store.Stage(w.ref).Load(ctx); err != nil {
		return errors.Join(err, w.request.Release())
	}
	return nil
}

// Lay brings a run's environment to its head together with work that is not merged yet, for a session.
// laid is false where something lies in the environment already, or where nothing of that is missing.
// The run's own change never begins there: what it merges is its own.
func (r *Runner) Lay(ctx context.Context, run workflow.Run, needed []Needed) (laid bool, err error) {
	w := &work{Runner: r, ref: store.RefOf(&run)}
	if err := w.hold(ctx); err != nil {
		return false, err
	}
	defer func() { w.logged("release request lock", w.request.Release()) }()
	env, err := w.environment(ctx)
	if err != nil {
		return false, err
	}
	head := w.run.Journey.Head
	if there, err := env.Record(ctx, head, "What lies in the environment\n"); err != nil || there.Changed {
		return false, err
	}
	upon, err := w.together(ctx, head, needed)
	if err != nil || upon == head {
		return false, err
	}
	if w.writer, w.run, err = w.Store.OpenRun(ctx, w.ref); err != nil {
		return false, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	defer func() { w.logged("close run", w.writer.Close()) }()
	if err = w.keep(ctx, upon); err == nil {
		err = w.note(ctx, &w.run, workflow.WorkLaid{Commit: upon})
	}
	if err == nil {
		err = env.Reset(ctx, upon, "")
	}
	if err != nil {
		return false, fmt.Errorf("begin with what it depends on: %w", err)
	}
	return true, nil
}

// together is a commit that has head and all that is needed.
func (w *work) together(ctx context.Context, head string, needed []Needed) (string, error) {
	for _, n := range needed {
		behind, err := w.Repo.IsAncestor(ctx, n.Commit, head)
		if err != nil || behind {
			if err != nil {
				return "", err
			}
			continue
		}
		ahead, err := w.Repo.IsAncestor(ctx, head, n.Commit)
		if err == nil && ahead {
			head = n.Commit
			continue
		}
		if err == nil {
			head, err = w.merged(ctx, head, n)
		}
		if err != nil {
			return "", err
		}
	}
	return head, nil
}

func (w *work) merged(ctx context.Context, head string, n Needed) (string, error) {
	tree, conflicts, err := w.Repo.MergeTree(ctx, head, n.Commit)
	if err != nil {
		return "", err
	}
	if len(conflicts) > 0 {
		return "", fmt.Errorf("%w: that of #%d conflicts with the rest in %s", ErrWorkConflicts, n.Number, redact.Line(strings.Join(conflicts, ", "), 300))
	}
	return w.Repo.CommitTree(ctx, tree, []string{head, n.Commit}, fmt.Sprintf("Begin request %s with the work of %d\n", w.run.Ref(), n.Number), mergers, w.Clock.Now())
}
