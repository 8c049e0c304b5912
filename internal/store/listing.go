package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// RunSummary is one run of a listing; Err says why it cannot be read.
type RunSummary = engine.RunSummary

// Runs reads every run, by request and then from the oldest to the newest. It
// ignores anything else in the folder.
func (s *Store) Runs(ctx context.Context) ([]RunSummary, error) {
	refs, err := s.allRuns(ctx)
	if err != nil {
		return nil, err
	}
	var all []RunSummary
	for _, ref := range refs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, err := s.Stage(ref).Load(ctx)
		all = append(all, RunSummary{Ref: ref, Run: run, Err: err})
	}
	slices.SortFunc(all, func(a, b RunSummary) int {
		return cmp.Or(cmp.Compare(a.Ref.RequestID, b.Ref.RequestID), cmp.Compare(a.Ref.RunID, b.Ref.RunID))
	})
	return all, nil
}

// LatestRun reads the newest run of a request; fs.ErrNotExist if it has none.
func (s *Store) LatestRun(ctx context.Context, requestID string) (RunSummary, error) {
	refs, err := s.runsOf(requestID)
	if err != nil {
		return RunSummary{}, err
	}
	if len(refs) == 0 {
		return RunSummary{}, fmt.Errorf("run of request %s: %w", requestID, fs.ErrNotExist)
	}
	latest := slices.MaxFunc(refs, func(a, b workflow.RunRef) int { return cmp.Compare(a.RunID, b.RunID) })
	run, err := s.Stage(latest).Load(ctx)
	return RunSummary{Ref: latest, Run: run, Err: err}, nil
}

// allRuns names every existing run.
func (s *Store) allRuns(ctx context.Context) (all []workflow.RunRef, err error) {
	requests, err := s.list(runsDir)
	if err != nil {
		return nil, err
	}
	for _, request := range requests {
		refs, err := s.runsOf(request.Name())
		if errors.Is(err, ErrName) || !request.IsDir() {
			continue
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

func (s *Store) runsOf(requestID string) ([]workflow.RunRef, error) {
	if err := validateRequestID(requestID); err != nil {
		return nil, err
	}
	entries, err := s.list(runsDir + "/" + requestID)
	if err != nil {
		return nil, err
	}
	var refs []workflow.RunRef
	for _, entry := range entries {
		if ref := (workflow.RunRef{RequestID: requestID, RunID: entry.Name()}); entry.IsDir() && validateRun(ref) == nil {
			refs = append(refs, ref)
		}
	}
	return refs, nil
}
