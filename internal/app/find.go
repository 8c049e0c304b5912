package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Find is the latest run that ref names: a request's number or id, or the beginning of a run id.
func (p *App) Find(ctx context.Context, ref string) (store.RunSummary, error) {
	runs, err := p.Store.Runs(ctx)
	if err != nil {
		return store.RunSummary{}, wire.Explained(err)
	}
	ref = strings.TrimPrefix(ref, "#")
	unreadable := p.requestBehind(ctx, ref, runs)
	var found *store.RunSummary
	for i := range runs {
		r := &runs[i]
		meant := names(ref, r) || r.Err != nil && r.Ref.RequestID == unreadable
		if !meant || found != nil && found.Ref.RunID > r.Ref.RunID {
			continue
		}
		found = r
	}
	if found == nil {
		request, err := p.Forge.Request(ctx, ref)
		if err != nil {
			return store.RunSummary{}, wire.Explained(err)
		}
		if err := p.aboutHealth(ctx, request.ID); err != nil {
			return store.RunSummary{}, err
		}
		return store.RunSummary{}, &problem.Error{Err: fmt.Errorf("%w %q", ErrNoRun, ref), Code: problem.NotFound,
			Hint: fmt.Sprintf("start one: signalbox run %s; or see what there is: signalbox list", ref)}
	}
	if found.Err != nil {
		return *found, unreadableRun(ref, found)
	}
	return *found, nil
}

// requestBehind is the id of the request that ref names, since an unreadable run doesn't tell its number; empty if all runs can be
// read.
func (p *App) requestBehind(ctx context.Context, ref string, runs []store.RunSummary) string {
	if !slices.ContainsFunc(runs, func(r store.RunSummary) bool { return r.Err != nil }) {
		return ""
	}
	if request, err := p.Forge.Request(ctx, ref); err == nil {
		return request.ID
	}
	for i := range runs { // the request's file may be gone
		if names(ref, &runs[i]) {
			return runs[i].Ref.RequestID
		}
	}
	return ""
}

// unreadableRun says which document is broken, and how to fix it.
func unreadableRun(ref string, found *store.RunSummary) error {
	if errors.Is(found.Err, context.Canceled) {
		return found.Err
	}
	stage := store.RunDir(found.Ref) + "/stage.json"
	return &problem.Error{Err: fmt.Errorf("the run of %q: %w", ref, found.Err), Code: problem.General,
		Hint: fmt.Sprintf("Signalbox leaves the file as it is. Fix it: signalbox document validate %s says what is wrong. Or start over: move %s and its folder in .worktrees/ away, then: signalbox run %s",
			stage, store.RunDir(found.Ref), commandline.ShellWord(ref))}
}

// ErrNoRun: the request exists but has no run yet.
var ErrNoRun = errors.New("there is no run of")

// aboutHealth says what to do about a request that the self-healing loop opened to call a person, for which there is no run; nil if
// it's another kind of request.
func (p *App) aboutHealth(ctx context.Context, request string) error {
	h, err := p.Store.Health().Load(ctx)
	if err != nil { // the health commands report it
		return nil
	}
	switch critical, earlier := h.About(request); {
	case critical:
		return &problem.Error{Err: fmt.Errorf("request %s calls a person: %s; no run answers it", request, h.FailedInARow()),
			Code: problem.NotFound, Hint: fmt.Sprintf("once it is fixed, or to try again: %q", RearmCommand)}
	case earlier:
		return &problem.Error{Err: fmt.Errorf("request %s called a person about failed repairs, and a person acted; no run answers it", request), Code: problem.NotFound,
			Hint: `it is closed once nothing fails any more; look again: signalbox heal`}
	}
	return nil
}

// names reports whether ref names the run.
func names(ref string, r *store.RunSummary) bool {
	if ref == r.Ref.RequestID || len(ref) >= 8 && strings.HasPrefix(r.Ref.RunID, ref) {
		return true
	}
	return r.Err == nil && ref == r.Run.Ref()
}

// Latest is the newest run of each request, by number.
func (p *App) Latest(ctx context.Context) ([]store.RunSummary, error) {
	runs, err := p.Store.Runs(ctx)
	if err != nil {
		return nil, wire.Explained(err)
	}
	newest := map[string]store.RunSummary{}
	for _, r := range runs {
		if r.Ref.RunID > newest[r.Ref.RequestID].Ref.RunID {
			newest[r.Ref.RequestID] = r
		}
	}
	var list []store.RunSummary
	for _, r := range newest {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b store.RunSummary) int {
		if a.Run.Details.Number != b.Run.Details.Number {
			return a.Run.Details.Number - b.Run.Details.Number
		}
		return strings.Compare(a.Ref.RequestID, b.Ref.RequestID)
	})
	return list, nil
}

// ownRun refuses a run whose document came with a commit: it says which tests prove the change, who agreed and where to merge, and
// anyone may have written that.
func (p *App) ownRun(ctx context.Context, ref workflow.RunRef) error {
	recorded, err := p.Repo.Recorded(ctx, store.RunDir(ref)+"/stage.json")
	if !recorded || err != nil {
		return err
	}
	return &problem.Error{Err: fmt.Errorf("run %s is recorded in git, so someone else may have written it: it does not run here", ref.RunID),
		Hint: "take it out of git (git rm -r --cached runs), move its folder " + store.RunDir(ref) + " away, and start a run of your own"}
}

// RearmCommand lets the self-healing loop run again after a critical state.
const RearmCommand = "signalbox health record rearmed"
