package ci

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/problem"
	"signalbox/internal/process"
	"signalbox/internal/store/bundle"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Saved is what Save did.
type Saved struct {
	Number int            `json:"number"`
	RunID  string         `json:"run_id"`
	State  workflow.State `json:"state"`
	Ref    string         `json:"ref"`
	Commit string         `json:"commit"`
	// Sealed: it was made with the key.
	Sealed bool `json:"sealed"`
	// LeftOut names files of the run that stay here, and Cut those of which only the end was saved.
	LeftOut []string `json:"left_out,omitempty"`
	Cut     []string `json:"cut,omitempty"`
}

// Save pushes the state of a request's run, so that another checkout can restore it. No process may execute the run. A state there that
// this one doesn't continue is left alone, and that's an error.
func Save(ctx context.Context, p *app.App, number int) (saved Saved, err error) {
	key, err := keyOf(p)
	if err != nil {
		return saved, err
	}
	found, err := p.Find(ctx, fmt.Sprint(number))
	if err != nil {
		return saved, err
	}
	lock, err := hold(ctx, p, found.Ref.RequestID, number, "ci save")
	if err != nil {
		return saved, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	run, err := p.Store.LoadRun(ctx, found.Ref)
	if err == nil {
		err = keepUnrecorded(ctx, p, &run)
	}
	if err != nil {
		return saved, wire.Explained(err)
	}
	b, err := here(ctx, p, run.RequestID)
	if err != nil {
		return saved, wire.Explained(err)
	}
	commit, err := push(ctx, p, b, key)
	return Saved{number, b.Run.RunID, b.Run.State, Ref(number), commit, key != "", b.Manifest.LeftOut, b.Manifest.Cut}, err
}

// keepUnrecorded puts work in the environment that no commit has on a ref: the environment stays here.
func keepUnrecorded(ctx context.Context, p *app.App, run *workflow.Run) error {
	j := &run.Details
	if j.EnvID == "" || j.EnvRemoved {
		return nil
	}
	// Processes of a killed engine may still write there.
	if _, err := process.SweepOrphans(ctx, place.RunVariable+"="+run.RunID); err != nil {
		return fmt.Errorf("end processes of an earlier engine: %w", err)
	}
	places := p.Places()
	commit, err := places.Unrecorded(ctx, run)
	if err != nil || commit == "" || commit == j.Head || commit == j.BaseCommit {
		return err
	}
	return places.SaveWork(ctx, run, commit)
}

// push commits the bundle and pushes it over the state that it continues.
func push(ctx context.Context, p *app.App, b *bundle.Bundle, key string) (string, error) {
	number := b.Manifest.Number
	old, err := p.Repo.Fetch(ctx, wire.Remote, Ref(number))
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return "", wire.Explained(err)
	}
	if old != "" {
		there, err := read(ctx, p, number, old, key)
		if err != nil {
			return "", unreadable(number, err)
		}
		if o := compare(&b.Run, &there.Run, b.Events(), there.Events()); o == separate || there.Run.RequestID != b.Run.RequestID {
			return "", diverged(number, there)
		} else if o == older {
			return "", &problem.Error{Err: fmt.Errorf("a newer state of request %d was saved by another checkout", number), Hint: fmt.Sprintf("take it: signalbox ci restore %d", number)}
		}
	}
	files, err := b.Files(key)
	if err != nil {
		return "", err
	}
	data := make([]git.DataFile, 0, len(files))
	for _, f := range files {
		data = append(data, git.DataFile(f))
	}
	message := fmt.Sprintf("State of run %s of request %s\n", b.Run.RunID, b.Run.RequestID)
	commit, err := p.Repo.CommitData(ctx, Ref(number), data, commitsOf(b), message, place.Merger, b.Run.UpdatedAt)
	if err != nil || commit == old { // the answer to an earlier push was lost
		return commit, wire.Explained(err)
	}
	err = p.Repo.Push(ctx, wire.Remote, git.Push{Ref: Ref(number), ID: commit, Old: old})
	if errors.Is(err, git.ErrRefMoved) {
		err = &problem.Error{Err: fmt.Errorf("another checkout saved request %d at the same time: %w", number, err), Hint: fmt.Sprintf("try again: signalbox ci save %d", number)}
	}
	return commit, wire.Explained(err)
}

// unreadable says why the state on the remote can't be used.
func unreadable(number int, err error) error {
	p := &problem.Error{Err: fmt.Errorf("the saved state of request %d: %w", number, err), Code: problem.Untrusted,
		Hint: fmt.Sprintf("everyone who may push can write anything there; forget it: git push %s :%s", wire.Remote, Ref(number))}
	if errors.Is(err, bundle.ErrSeal) {
		p.Hint = fmt.Sprintf("set %s to the key it was saved with; or forget what was saved: git push %s :%s", KeyVariable, wire.Remote, Ref(number))
	}
	return p
}
