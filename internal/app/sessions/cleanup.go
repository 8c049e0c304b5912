package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Over is a session that has ended.
type Over struct {
	*session.Session
	Info session.Info
}

// Proof says whether a session is no longer needed.
type Proof func(*Sessions, context.Context, int) (bool, error)

// Over finds the ended sessions to remove: those named, or all. If proof is set, it must hold for them.
func (s *Sessions) Over(ctx context.Context, refs []string, proof Proof) (chosen []Over, err error) {
	if len(refs) == 0 {
		list, err := s.Hosts.List(ctx)
		if err != nil {
			return nil, wire.Explained(err)
		}
		for _, info := range list {
			if info.EndedAt != nil {
				refs = append(refs, strconv.Itoa(info.Issue))
			}
		}
	}
	for _, ref := range refs {
		x, info, err := app.OpenSession(ctx, s.Hosts, ref)
		if err != nil {
			return nil, err
		}
		if info.EndedAt == nil {
			return nil, &problem.Error{Err: fmt.Errorf("session %s has not ended", info.Name), Code: problem.Held, Hint: "end it first: signalbox session stop " + strconv.Itoa(info.Issue)}
		}
		proven := proof == nil
		if !proven {
			if proven, err = proof(s, ctx, info.Issue); err != nil {
				return nil, wire.Explained(err)
			}
		}
		if proven {
			chosen = append(chosen, Over{x, info})
		}
	}
	return chosen, nil
}

// Merged is the proof that the issue's run merged its change. A change that someone merged by hand can't be proven; its session must be
// named.
func (s *Sessions) Merged(ctx context.Context, issue int) (bool, error) {
	found, err := s.Find(ctx, strconv.Itoa(issue))
	if problem.CodeOf(err) == problem.NotFound {
		return false, nil
	}
	return err == nil && found.Run.State == workflow.Done && found.Run.Details.MergeCommit != "", err
}

// Orphaned is the proof that the issue has no environment any more, and no run that would make one.
func (s *Sessions) Orphaned(ctx context.Context, issue int) (bool, error) {
	live, err := app.LiveIssues(ctx, s.Store)
	if err != nil || live[issue] {
		return false, err
	}
	folders, err := app.Worktrees(s.Store)
	return len(registry.OrphanedIssues([]int{issue}, folders)) > 0, err
}

// Removed is what was removed of a session, and what was kept.
type Removed struct {
	// StatusKept: someone may wait for the status, which stays for some days.
	StatusKept bool
	// Canceled: its run had not ended and was canceled. KeptRef is where git finds the work of the environment, Saved is what was saved
	// earlier.
	Canceled bool
	KeptRef  string
	Saved    []string
	// Branch was removed because Within contains it; both are empty if it wasn't.
	Branch, Within string
}

// MayRemove finds the run of an ended session; ok is false if it has none. It refuses a run whose change waits for a person's decision.
func (s *Sessions) MayRemove(ctx context.Context, x Over) (run store.RunSummary, ok bool, err error) {
	found, err := s.Find(ctx, strconv.Itoa(x.Info.Issue))
	if problem.CodeOf(err) == problem.NotFound {
		return found, false, nil
	}
	if err == nil {
		err = app.Undecided(&found.Run)
	}
	return found, true, err
}

// Remove removes a session. It cancels the session's run, which removes the environment, and removes the run's branch if that loses
// nothing. The session's record goes last, so an interrupted Remove can be repeated. With status, it removes the issue's status too.
func (s *Sessions) Remove(ctx context.Context, x Over, status bool) (put Removed, err error) {
	found, ok, err := s.MayRemove(ctx, x)
	if err != nil {
		return put, err
	}
	if ok {
		run := found.Run
		if put.Canceled = !run.State.Final(); put.Canceled {
			if run, err = s.cancel(ctx, found); err != nil {
				return put, err
			}
			if !run.State.Final() {
				return put, &StoppedError{run}
			}
		}
		put.KeptRef, put.Saved = run.Details.KeptRef, slices.Clone(run.Details.SavedWork)
		if put.KeptRef == "" && len(put.Saved) == 0 { // someone may have removed the environment
			kept, err := s.Places().KeptOf(ctx, &run)
			if err != nil {
				return put, wire.Explained(err)
			}
			for _, ref := range kept {
				put.Saved = append(put.Saved, ref.Name)
			}
		}
		if put.Branch, put.Within, err = s.removeBranch(ctx, &run); err != nil {
			return put, err
		}
	}
	removed, err := s.Store.IssueStatus(x.Info.Issue).RemoveIf(ctx, func(word *registry.IssueStatus) bool { return status || !word.Retained(s.Now()) })
	if err == nil {
		err = x.Remove(ctx)
	}
	put.StatusKept = !removed
	return put, wire.Explained(err)
}

// cancel cancels a run as "stop --cancel" does, but silently, since the outcome of the session still counts.
func (s *Sessions) cancel(ctx context.Context, found store.RunSummary) (workflow.Run, error) {
	s.WithoutAgents = true
	r, err := s.Runner(ctx, nil)
	if err != nil {
		return found.Run, err
	}
	err = s.Signal(ctx, found, func(_ *workflow.Run, given *workflow.Signals) {
		given.Commands = append(given.Commands, app.Personal(workflow.CommandCancel, "", ""))
	})
	if err != nil {
		return found.Run, wire.Explained(err)
	}
	request := forge.Request{ID: found.Ref.RequestID, Number: found.Run.Details.Number}
	return s.Run(ctx, r, request, func(context.Context) (workflow.RunRef, error) { return found.Ref, nil })
}

// removeBranch removes a run's branch if the base branch or the kept ref contains it, and says which.
func (s *Sessions) removeBranch(ctx context.Context, run *workflow.Run) (branch, within string, err error) {
	ref := "refs/heads/" + run.Details.Branch
	at, err := s.Repo.Resolve(ctx, ref)
	if errors.Is(err, git.ErrNotFound) {
		return "", "", nil
	}
	for _, other := range slices.DeleteFunc([]string{"refs/heads/" + run.Details.Base, run.Details.KeptRef}, func(name string) bool { return name == "" }) {
		if err != nil {
			break
		}
		holds, lookErr := s.Repo.Resolve(ctx, other)
		if errors.Is(lookErr, git.ErrNotFound) {
			continue
		}
		has := false
		if err = lookErr; err == nil {
			has, err = s.Repo.IsAncestor(ctx, at, holds)
		}
		if err == nil && has {
			if err = s.Repo.DeleteRef(ctx, ref, at); err == nil {
				return run.Details.Branch, other, nil
			}
		}
	}
	if err != nil {
		return "", "", fmt.Errorf("remove branch %q: %w", run.Details.Branch, err)
	}
	return "", "", nil
}
