package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/workflow"
)

// openPullRequest offers the change, if the branch still is what was tested and approved.
func (w *work) openPullRequest(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	j := w.run.Journey
	if at, err := w.branchAt(ctx); err != nil {
		return nil, err
	} else if at != j.Head {
		return workflow.HeadMoved{Outcome: o}, nil
	}
	pr, err := w.Forge.OpenPullRequest(ctx, forge.PullRequest{Key: w.ref.RunID, Request: w.run.RequestID,
		Title: w.Redact.String(w.run.Title), Body: w.Redact.Text(w.evidence()), Branch: j.Branch, Base: j.Base, Head: j.Head,
		Unpublished: j.Settings.PushesTo == ""})
	if err != nil {
		return nil, err
	}
	return workflow.PullRequestOpened{Outcome: o, Number: pr.Number, URL: pr.URL, CompareURL: pr.CompareURL}, nil
}

// watchChecks waits for the verdict on the merge candidate, and no longer than the limit.
func (w *work) watchChecks(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	limited, cancel := context.WithTimeout(ctx, seconds(w.run.Journey.Settings.Limits.ChecksTotalSec))
	defer cancel()
	check, err := w.Forge.Checks(limited, w.run.Journey.PullRequest.Number)
	event := workflow.ChecksEnded{Outcome: o, Candidate: workflow.Candidate{Base: check.Base, Head: check.Head, Tree: check.Tree},
		Command: check.Command, Known: check.Known, DurationMS: check.DurationMS, LogPath: check.LogPath, Summary: w.clean(check.Summary)}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, forge.ErrConflict):
		event.State, event.Summary = workflow.ChecksConflict, w.clean(err.Error())
	case errors.Is(err, forge.ErrNoChecks):
		event.State, event.Summary = workflow.ChecksSilent, w.clean(err.Error())
	case err != nil:
		return nil, err
	case check.State == forge.CheckPassed && check.Head == w.run.Journey.Head:
		event.State = workflow.ChecksPassed
	case check.Unsettled:
		event.State = workflow.ChecksUnsettled
	default:
		event.State = workflow.ChecksFailed
	}
	return event, nil
}

func (w *work) merge(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	pr := w.run.Journey.PullRequest
	merged, err := w.Forge.Merge(ctx, pr.Number, forge.Check{Base: pr.Checked.Base, Head: pr.Checked.Head,
		Tree: pr.Checked.Tree, State: forge.CheckPassed}, w.Redact.Text(w.mergeMessage(ctx)))
	switch {
	case errors.Is(err, forge.ErrBaseMoved), errors.Is(err, forge.ErrConflict):
		// Conflicts come from a base that moved after the checks. The checks report them, and Decide knows the ways out.
		return workflow.BaseMoved{Outcome: o}, nil
	case errors.Is(err, forge.ErrHeadMoved):
		return workflow.HeadMoved{Outcome: o}, nil
	case err != nil:
		return nil, err
	}
	return workflow.Merged{Outcome: o, Commit: merged.MergeCommit}, nil
}

// removeEnvironment deletes the environment and the branch. The branch's last
// commit, and what was not recorded yet, stay reachable from a ref (DESIGN
// decision 7).
func (w *work) removeEnvironment(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	kept, err := w.keepWork(ctx)
	if err != nil {
		return nil, err
	}
	if w.run.Journey.EnvID != "" {
		if err := w.Environments.Remove(ctx, w.spec()); err != nil {
			return nil, err
		}
		w.env = nil
	}
	at, err := w.Repo.Resolve(ctx, w.branchRef())
	switch {
	case err == nil:
		if err = w.keep(ctx, at); err == nil {
			err = w.Repo.DeleteRef(ctx, w.branchRef(), at)
		}
	case errors.Is(err, git.ErrNotFound):
		err = w.Repo.DropRef(ctx, w.branchRef()) // for the lock of a git that was killed behind the deletion
	}
	if err != nil {
		return nil, fmt.Errorf("remove branch %q: %w", w.run.Journey.Branch, err)
	}
	return workflow.EnvironmentRemoved{Outcome: o, KeptRef: kept}, nil
}

// keepWork puts the head, or on top of it what lies in the environment
// unrecorded, on a ref and returns the ref's name; empty when there is nothing
// that the base branch lacks.
func (w *work) keepWork(ctx context.Context) (string, error) {
	j := w.run.Journey
	if j.Head == "" {
		return "", nil
	}
	commit, visited := j.Head, false
	var err error
	if j.MergeCommit != "" {
		visited, err = w.visited(ctx)
	}
	if err == nil && j.EnvID != "" && !j.EnvRemoved && (j.MergeCommit == "" || visited) {
		commit, err = w.unrecorded(ctx)
	}
	if err != nil || commit == j.BaseCommit {
		return "", err
	}
	if err := w.keep(ctx, commit); err != nil {
		return "", err
	}
	if visited && commit != j.Head {
		w.tell(ctx, w.keptRef(commit))
	}
	return w.keptRef(commit), nil
}

func (w *work) closeRequest(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	request, err := w.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	return workflow.RequestClosed{Outcome: o}, w.Forge.CloseRequest(ctx, request, w.run.Journey.MergeCommit)
}

func (w *work) postComment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	request, err := w.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	return workflow.CommentPosted{Outcome: o}, w.Forge.Comment(ctx, request, w.ref.RunID+"/"+a.Key, w.clean(a.Reason))
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
