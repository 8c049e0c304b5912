package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// baseOnNeeded makes a session begin with the work of the sessions on which its request depends, if that is complete and not merged
// yet. Otherwise the session wouldn't see that work.
func (s *Sessions) baseOnNeeded(ctx context.Context, request forge.Request, run *workflow.Run) error {
	s.basing.Lock()
	defer s.basing.Unlock()
	places := s.Places()
	var needed []place.Needed
	for _, ref := range request.DependsOn {
		other, err := s.Forge.Request(ctx, ref)
		if err != nil || other.Closed {
			continue // it is unknown, or merged and so in the base already
		}
		commit, err := s.workOf(ctx, places, other)
		if err != nil {
			return err
		}
		if commit != "" {
			needed = append(needed, place.Needed{Number: other.Number, Commit: commit})
		}
	}
	if len(needed) == 0 {
		return nil
	}
	changed, err := places.BeginSession(ctx, workflow.RefOf(run), needed)
	if errors.Is(err, place.ErrWorkConflicts) {
		return &problem.Error{Err: fmt.Errorf("start session of request %d: %w", request.Number, err),
			Hint: fmt.Sprintf("merge what it depends on first; what is kept of it: git for-each-ref refs/signalbox/kept/%d", needed[len(needed)-1].Number)}
	}
	if changed && s.OnUnmerged != nil {
		var names []int
		for _, n := range needed {
			names = append(names, n.Number)
		}
		slices.Sort(names)
		s.OnUnmerged(request.Number, names)
	}
	return wire.Explained(err)
}

// Unmerged are the requests on which one depends whose work is, or will be, in a session and isn't merged.
func (s *Sessions) Unmerged(ctx context.Context, request forge.Request) (needed []int, err error) {
	for _, ref := range request.DependsOn {
		other, err := s.Forge.Request(ctx, ref)
		if err != nil || other.Closed {
			continue // as in baseOnNeeded
		}
		done, err := s.Complete(ctx, other)
		if err != nil {
			return nil, err
		}
		_, err = s.Store.LatestRun(ctx, other.ID)
		switch {
		case done && errors.Is(err, fs.ErrNotExist): // another tool said that it is complete
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, wire.Explained(err)
		default:
			needed = append(needed, other.Number)
		}
	}
	slices.Sort(needed)
	return slices.Compact(needed), nil
}

// workOf is a commit with the work of a complete request's session, empty if there is none. It ends an agent that still runs after
// its final status.
func (s *Sessions) workOf(ctx context.Context, places *place.Places, request forge.Request) (string, error) {
	done, err := s.Complete(ctx, request)
	if err != nil || !done {
		return "", err
	}
	latest, err := s.Store.LatestRun(ctx, request.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // another tool said that it is complete
	}
	if err = errors.Join(err, latest.Err); err != nil {
		return "", wire.Explained(err)
	}
	x, info, err := app.OpenSession(ctx, s.Hosts, session.Name("", request.Number))
	if err == nil && info.Outcome != nil && info.EndedAt == nil {
		err = x.Stop(ctx)
	}
	if err != nil && problem.CodeOf(err) != problem.NotFound {
		return "", err
	}
	commit, err := places.WorkOf(ctx, latest.Run)
	var held *store.HeldError
	if errors.As(err, &held) {
		return "", app.HeldRequest(request.Number, held.Holder)
	}
	return commit, wire.Explained(err)
}
