// Package ci is what a CI job does around a run: it asks whether a person who may order a run did, and passes the run's state from one
// checkout of a project to another, such as a later job's or a laptop's, through a ref of the remote that they share. It decides which of
// two states of a run counts; what a state consists of is store/bundle's.
package ci

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"signalbox/internal/app"
	"signalbox/internal/app/intake"
	"signalbox/internal/engine"
	"signalbox/internal/git"
	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/store/bundle"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// KeyVariable has the key with which states are sealed: an account that may only push the ref can't invent a run.
const KeyVariable = "SIGNALBOX_STATE_KEY"

// Ref is the ref of the remote that holds the state of a request's run.
func Ref(number int) string { return "refs/signalbox/state/" + strconv.Itoa(number) }

var numberPattern = lazy.Pattern(`^[1-9][0-9]{0,8}$`)

// ParseNumber reads the number of a request, and nothing else.
func ParseNumber(text string) (int, error) {
	if !numberPattern().MatchString(text) {
		return 0, &problem.Error{Err: fmt.Errorf("%q is not the number of a request", text), Hint: "want digits: 42", Code: problem.Usage}
	}
	return strconv.Atoi(text)
}

// keyOf returns the key to seal with; empty if there is none.
func keyOf(p *app.App) (string, error) {
	key := p.Env(KeyVariable)
	if key != "" && len(key) < bundle.MinKey {
		return "", &problem.Error{Err: fmt.Errorf("%s has only %d characters", KeyVariable, len(key)), Hint: "make one: openssl rand -hex 32"}
	}
	return key, nil
}

// hold takes a request's lock, so that no process executes its run meanwhile.
func hold(ctx context.Context, p *app.App, requestID string, number int, owner string) (engine.Lock, error) {
	lock, err := p.Store.LockRequest(ctx, requestID, engine.Owner{Name: owner})
	var held *store.HeldError
	if errors.As(err, &held) {
		return nil, app.HeldRequest(number, held.Holder)
	}
	return lock, wire.Explained(err)
}

// read reads the state at a commit that was fetched.
func read(ctx context.Context, p *app.App, number int, commit, key string) (*bundle.Bundle, error) {
	data, err := p.Repo.DataFiles(ctx, commit, bundle.MaxFile, bundle.MaxTotal)
	if err != nil {
		return nil, err
	}
	files := make([]bundle.File, 0, len(data))
	for _, f := range data {
		files = append(files, bundle.File(f))
	}
	b, err := bundle.Open(number, files, key)
	if err != nil {
		return nil, err
	}
	if branch := b.Run.Details.Branch; branch != "" && !git.ValidBranch(branch) {
		return nil, fmt.Errorf("its branch %q is none of Signalbox's", branch)
	}
	for _, id := range commitsOf(b) {
		within, err := p.Repo.IsAncestor(ctx, id, commit)
		if err != nil || !within {
			return nil, errors.Join(fmt.Errorf("its commit %s did not come with it", id), err)
		}
	}
	return b, nil
}

// commitsOf are the commits that travel with a state.
func commitsOf(b *bundle.Bundle) (ids []string) {
	j := &b.Run.Details
	for _, ref := range b.Manifest.Refs {
		ids = append(ids, ref.ID)
	}
	if j.Head != "" {
		ids = append(ids, j.Head)
	} else if j.BaseCommit != "" {
		ids = append(ids, j.BaseCommit)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// order is how one state of a request's run relates to another.
type order int

const (
	same order = iota
	// older: the other continues it.
	older
	// newer: it continues the other.
	newer
	// separate: both continue an earlier one, or are of two runs that are not over.
	separate
)

// compare relates a state to another one of the same request. A run's history only grows, so of two states of a run, that one is older
// whose history the other one begins with. Of two runs, the later one counts if the earlier one is over.
func compare(one, other *workflow.Run, events, others []byte) order {
	switch {
	case one.RunID < other.RunID && one.State.Final():
		return older
	case one.RunID > other.RunID && other.State.Final():
		return newer
	case one.RunID != other.RunID:
		return separate
	case bytes.Equal(events, others):
		return same
	case bytes.HasPrefix(others, events):
		return older
	case bytes.HasPrefix(events, others):
		return newer
	}
	return separate
}

// here is the bundle of the request's run in this checkout; nil if it has none. The caller holds the request's lock.
func here(ctx context.Context, p *app.App, requestID string) (*bundle.Bundle, error) {
	latest, err := p.Store.LatestRun(ctx, requestID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err = errors.Join(err, latest.Err); err != nil {
		return nil, err
	}
	refs, err := refsOf(ctx, p, &latest.Run)
	if err != nil {
		return nil, err
	}
	orders, err := intake.Carried(ctx, p.Store, latest.Run.Details.Number)
	if err != nil {
		return nil, err
	}
	return bundle.Collect(ctx, p.Store, latest.Run, refs, orders)
}

// refsOf are the refs of this checkout that hold work of a run.
func refsOf(ctx context.Context, p *app.App, run *workflow.Run) (refs []bundle.Ref, err error) {
	kept, err := p.Places().KeptOf(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, ref := range kept {
		refs = append(refs, bundle.Ref{Name: ref.Name, ID: ref.ID})
	}
	if run.Details.Branch == "" {
		return refs, nil
	}
	branch := "refs/heads/" + run.Details.Branch
	id, err := p.Repo.Resolve(ctx, branch)
	if errors.Is(err, git.ErrNotFound) { // not made yet, or removed with the run
		return refs, nil
	}
	return append(refs, bundle.Ref{Name: branch, ID: id}), err
}

// diverged is the error that two checkouts continued one run separately.
func diverged(number int, there *bundle.Bundle) error {
	return &problem.Error{Err: fmt.Errorf("run %s of request %d, as it was saved, and the run here were continued separately", there.Run.RunID, number),
		Hint: fmt.Sprintf("keep one of them: move runs/%s away and restore; or forget what was saved: git push %s :%s", there.Run.RequestID, wire.Remote, Ref(number))}
}
