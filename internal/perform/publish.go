package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/perform/report"
	"signalbox/internal/place"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

// openPullRequest opens the pull request if the branch is still what was tested and approved.
func (x *execution) openPullRequest(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	j := x.run.Details
	if at, err := x.branchAt(ctx); err != nil {
		return nil, err
	} else if at != j.Head && a.Draft {
		return workflow.PullRequestOpened{Outcome: o}, nil
	} else if at != j.Head {
		return workflow.HeadMoved{Outcome: o}, nil
	}
	pr, err := x.Forge.OpenPullRequest(ctx, forge.PullRequest{Key: x.run.RunID, Request: x.run.RequestID,
		Title: x.Redact.String(x.run.Title), Body: x.offer(), Branch: j.Branch, Base: j.Base, Head: j.Head,
		Unpublished: j.Settings.PushesTo == "", Draft: a.Draft})
	if err == nil && !a.Draft {
		err = x.replies(ctx, pr.Number)
	}
	if err != nil {
		return nil, err
	}
	return workflow.PullRequestOpened{Outcome: o, Number: pr.Number, URL: pr.URL, CompareURL: pr.CompareURL}, nil
}

func (x *execution) closePullRequest(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	err := x.Forge.ClosePullRequest(ctx, x.run.Details.PullRequest.Number)
	if errors.Is(err, forge.ErrMerged) {
		merged, err := x.merge(ctx, o, a)
		if errors.Is(err, forge.ErrMergeGone) { // the base branch lacks it again, so there is nothing left of it
			return workflow.PullRequestClosed{Outcome: o}, nil
		}
		return merged, err
	}
	return workflow.PullRequestClosed{Outcome: o}, err
}

// watchChecks runs the tests on the merge candidate, up to the limit, or reads what the forge's checks say.
func (x *execution) watchChecks(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	said, err := x.opinions(ctx)
	switch {
	case err != nil:
		return nil, err
	case said.State != forge.Open: // Checks says what became of it
	case len(said.Objections) > 0:
		return workflow.ChecksEnded{Outcome: o, State: workflow.ChecksObjected, Objections: x.objections(said.Objections)}, nil
	case said.Awaits != nil && (said.Awaits.Required && x.run.Details.ChecksPassed() || x.run.Details.AwaitsForge()):
		return x.watchMeanwhile(ctx, o, said)
	}
	limited, cancel := context.WithTimeout(ctx, seconds(x.run.Details.Settings.Limits.ChecksTotalSec))
	defer cancel()
	check, err := x.Forge.Checks(limited, x.run.Details.PullRequest.Number)
	event := x.checked(o, check, said)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, forge.ErrPending):
		pending := x.pending(o, err)
		pending.ApprovedBy = event.ApprovedBy
		return pending, nil
	case errors.Is(err, forge.ErrHeadMoved):
		return workflow.HeadMoved{Outcome: o}, nil
	case errors.Is(err, forge.ErrConflict):
		event.State, event.Summary = workflow.ChecksConflict, x.clean(err.Error())
	case errors.Is(err, forge.ErrNoChecks):
		event.State, event.Summary = workflow.ChecksSilent, x.clean(err.Error())
	case err != nil:
		return nil, err
	case x.rewritten(ctx, check.Base):
		return nil, errBaseRewritten
	case said.State == forge.Merged: // by someone, on the forge
		return x.merge(ctx, o, a)
	case check.State == forge.CheckPassed && check.Head == x.run.Details.Head:
		event.State = workflow.ChecksPassed
	case check.Unsettled:
		event.State = workflow.ChecksUnsettled
	default:
		event.State, event.Log = workflow.ChecksFailed, x.logOf(ctx, check)
	}
	return event, nil
}

func (x *execution) checked(o workflow.Outcome, check forge.Check, said forge.Opinions) workflow.ChecksEnded {
	return workflow.ChecksEnded{Outcome: o, Candidate: workflow.Candidate{Base: check.Base, Head: check.Head, Tree: check.Tree},
		Command: check.Command, Known: check.Known, Rerunnable: check.Rerunnable, DurationMS: check.DurationMS, LogPath: check.LogPath, Summary: x.clean(check.Summary), Check: x.clean(check.Server),
		ApprovedBy: strings.Join(said.ApprovedBy, ", "), Awaits: x.awaits(said.Awaits), Again: said.LookAgain.UTC()}
}

// logOf reads what the failed jobs printed, unless they run again first and no agent gets it.
func (x *execution) logOf(ctx context.Context, check forge.Check) string {
	if check.Log == nil || check.Rerunnable && x.run.Details.PullRequest.Rerun == nil {
		return ""
	}
	return x.Redact.Text(check.Log(ctx))
}

// watchMeanwhile looks while people are waited for. The merge candidate passed, and is tested again once they acted; a check of the forge may still turn red.
func (x *execution) watchMeanwhile(ctx context.Context, o workflow.Outcome, said forge.Opinions) (workflow.Event, error) {
	if err := x.describe(ctx); err != nil {
		return nil, err
	}
	event := workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPending, Awaits: x.awaits(said.Awaits), Again: said.LookAgain.UTC()}
	check, err := x.Forge.(forge.Judged).Reported(ctx, x.run.Details.PullRequest.Number)
	if err == nil && check.State == forge.CheckFailed {
		event = x.checked(o, check, said)
		event.State, event.Candidate, event.Log = workflow.ChecksFailed, *x.run.Details.PullRequest.Checked, x.logOf(ctx, check)
	}
	return event, err
}

// offer is the text of the pull request.
func (x *execution) offer() string { return x.Redact.Text(report.Offer(&x.run)) }

// describe brings the text of the pull request up to date with the tests of its merge candidate, which it was opened for.
func (x *execution) describe(ctx context.Context) error {
	if judged, ok := x.Forge.(forge.Judged); ok {
		return judged.Describe(ctx, x.run.Details.PullRequest.Number, x.offer())
	}
	return nil
}

// rerunChecks has the forge run the failed jobs again. A forge that refuses lets the failure count.
func (x *execution) rerunChecks(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	event := workflow.ChecksRerun{Outcome: o, Jobs: []string{}}
	rerunner, ok := x.Forge.(forge.Rerunner)
	if !ok {
		return event, nil
	}
	jobs, err := rerunner.Rerun(ctx, x.run.Details.PullRequest.Number, x.run.Details.Head)
	var f *forge.Failure
	switch {
	case errors.As(err, &f) && (f.Kind == forge.Forbidden || f.Kind == forge.Refused), errors.Is(err, forge.ErrNotFound):
		x.logged("run failed jobs again", err)
	case err != nil:
		return nil, err
	}
	for _, job := range jobs {
		event.Jobs = append(event.Jobs, x.Redact.Line(job, 200))
	}
	return event, nil
}

// errBaseRewritten: commits that the change begins with are no longer on the base branch. A merge would bring them back.
var errBaseRewritten = errors.New("the base branch was rewritten since the run began, and the change has commits of it that are gone there now")

// rewritten reports whether the base branch, at a commit, lacks what the change begins with.
func (x *execution) rewritten(ctx context.Context, base string) bool {
	if base == "" {
		return false
	}
	contained, err := x.Repo.IsAncestor(ctx, x.run.Details.BaseCommit, base)
	return err == nil && !contained
}

func (x *execution) merge(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	pr, checked, message := x.run.Details.PullRequest, forge.Check{}, ""
	if c := pr.Checked; c != nil { // otherwise nothing can be merged, and only what is merged is found
		checked = forge.Check{Base: c.Base, Head: c.Head, Tree: c.Tree, State: forge.CheckPassed}
		message = x.Redact.Text(x.mergeMessage(ctx))
		if err := x.describe(ctx); err != nil {
			return nil, err
		}
	}
	merged, err := x.Forge.Merge(ctx, pr.Number, checked, message)
	switch {
	case errors.Is(err, forge.ErrBaseMoved), errors.Is(err, forge.ErrConflict), errors.Is(err, forge.ErrNoChecks):
		// Conflicts come from a base that moved after the checks, and a check may have turned red. The checks report it, and Decide knows the ways out.
		return workflow.BaseMoved{Outcome: o}, nil
	case errors.Is(err, forge.ErrHeadMoved):
		return workflow.HeadMoved{Outcome: o}, nil
	case errors.Is(err, forge.ErrPending):
		return x.pending(o, err), nil
	case errors.Is(err, forge.ErrUntested):
		return workflow.Merged{Outcome: o, Commit: merged.MergeCommit, Untested: true}, nil
	case err != nil:
		return nil, err
	}
	return workflow.Merged{Outcome: o, Commit: merged.MergeCommit}, nil
}

// pending is the event of a forge that is waited for.
func (x *execution) pending(o workflow.Outcome, err error) workflow.ChecksEnded {
	event := workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPending, Summary: x.clean(err.Error())}
	if p := (*forge.PendingError)(nil); errors.As(err, &p) {
		event.Again, event.Awaits = p.LookAgain.UTC(), x.awaits(&forge.Awaited{Kind: cmp.Or(p.Kind, forge.AwaitedKind(await.Forge)), Of: p.For})
	}
	return event
}

// removeEnvironment deletes the environment and the branch. The branch's last commit and unrecorded work stay reachable from a
// ref (DESIGN decision 7).
func (x *execution) removeEnvironment(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	kept, err := x.keepWork(ctx)
	if err != nil {
		return nil, err
	}
	if x.run.Details.EnvID != "" {
		if err := x.Environments.Remove(ctx, place.Spec(&x.run)); err != nil {
			return nil, err
		}
		x.env = nil
	}
	at, err := x.Repo.Resolve(ctx, x.branchRef())
	switch {
	case err == nil:
		if err = x.Places.SaveWork(ctx, &x.run, at); err == nil {
			err = x.Repo.DeleteRef(ctx, x.branchRef(), at)
		}
	case errors.Is(err, git.ErrNotFound):
		err = x.Repo.DropRef(ctx, x.branchRef()) // removes the lock of a git that was killed after the deletion
	}
	if err != nil {
		return nil, fmt.Errorf("remove branch %q: %w", x.run.Details.Branch, err)
	}
	return workflow.EnvironmentRemoved{Outcome: o, KeptRef: kept}, nil
}

// keepWork saves the head, with any unrecorded work on top, on a ref and returns the ref's name; empty if the base branch lacks
// nothing.
func (x *execution) keepWork(ctx context.Context) (string, error) {
	j := x.run.Details
	if j.Head == "" {
		return "", nil
	}
	commit, visited := j.Head, false
	var err error
	if j.MergeCommit != "" {
		visited, err = x.visited(ctx)
	}
	if err == nil && j.EnvID != "" && !j.EnvRemoved && (j.MergeCommit == "" || visited) {
		commit, err = x.Places.Unrecorded(ctx, &x.run)
	}
	if err != nil || commit == j.BaseCommit {
		return "", err
	}
	if err := x.Places.SaveWork(ctx, &x.run, commit); err != nil {
		return "", err
	}
	if visited && commit != j.Head {
		x.reportRef(ctx, place.KeptRef(&x.run, commit))
	}
	return place.KeptRef(&x.run, commit), nil
}

func (x *execution) closeRequest(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	request, err := x.theRequest(ctx)
	if errors.Is(err, forge.ErrNotFound) { // it was deleted or moved elsewhere, and its change is merged
		return workflow.RequestClosed{Outcome: o}, nil
	}
	if err != nil {
		return nil, err
	}
	return workflow.RequestClosed{Outcome: o}, x.Forge.CloseRequest(ctx, request, x.run.Details.MergeCommit)
}

func (x *execution) postComment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	request, err := x.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	return workflow.CommentPosted{Outcome: o}, x.Forge.Comment(ctx, request, x.run.RunID+"/"+a.Key, x.announced.SetUpComment(&x.run, x.clean(a.Reason)))
}
