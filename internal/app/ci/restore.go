package ci

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/app"
	"signalbox/internal/app/intake"
	"signalbox/internal/git"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store/bundle"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Result is what Restore found.
type Result string

const (
	// Nothing was ever saved: a run begins anew.
	Nothing Result = "nothing"
	// Restored: the run here is the saved one now.
	Restored Result = "restored"
	// Kept: the run here is the saved one already, or continues it.
	Kept Result = "kept"
)

// Restoration is what Restore did. RunID and State are of the run that is here now.
type Restoration struct {
	Number int            `json:"number"`
	Result Result         `json:"result"`
	RunID  string         `json:"run_id,omitempty"`
	State  workflow.State `json:"state,omitempty"`
}

// Restore makes the run of a request what was saved last, if the run here is older. Without a key nothing proves who saved a state, so
// it is then taken only if the caller agrees (unsealed).
func Restore(ctx context.Context, p *app.App, number int, unsealed bool) (done Restoration, err error) {
	done = Restoration{Number: number, Result: Nothing}
	key, err := keyOf(p)
	if err != nil {
		return done, err
	}
	commit, err := p.Repo.Fetch(ctx, wire.Remote, Ref(number))
	if errors.Is(err, git.ErrNotFound) {
		_, err = p.Repo.Remote(ctx, wire.Remote) // a remote that is missing has saved nothing either
		return done, wire.Explained(err)
	}
	if err != nil {
		return done, wire.Explained(err)
	}
	if key == "" && !unsealed {
		return done, &problem.Error{Err: fmt.Errorf("%s is not set, so nothing proves who saved the state of request %d", KeyVariable, number), Code: problem.Untrusted,
			Hint: fmt.Sprintf("set it to the key of your CI; or trust everyone who may push here: signalbox ci restore %d --unsealed", number)}
	}
	if unsealed {
		key = ""
	}
	b, err := read(ctx, p, number, commit, key)
	if err != nil {
		return done, unreadable(number, err)
	}
	lock, err := hold(ctx, p, b.Run.RequestID, number, "ci restore")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	if err := otherRequest(ctx, p, b); err != nil {
		return done, err
	}
	if err := intake.Adopt(ctx, p.Store, number, b.Orders(), p.Now().Add(-MaxAge)); err != nil {
		return done, unreadable(number, err)
	}
	present, err := here(ctx, p, b.Run.RequestID)
	if err != nil {
		return done, wire.Explained(err)
	}
	if present != nil {
		switch compare(&present.Run, &b.Run, present.Events(), b.Events()) {
		case separate:
			return done, diverged(number, b)
		case same, newer:
			return Restoration{number, Kept, present.Run.RunID, present.Run.State}, nil
		case older:
		}
	}
	if err := take(ctx, p, b); err != nil {
		return done, wire.Explained(err)
	}
	return Restoration{number, Restored, b.Run.RunID, b.Run.State}, nil
}

// otherRequest refuses a number that carries the branches and environments of another request's run here.
func otherRequest(ctx context.Context, p *app.App, b *bundle.Bundle) error {
	latest, err := p.Latest(ctx)
	if err != nil {
		return err
	}
	for _, other := range latest {
		if other.Err == nil && other.Run.Details.Number == b.Manifest.Number && other.Ref.RequestID != b.Run.RequestID && !other.Run.State.Final() {
			return &problem.Error{Err: fmt.Errorf("number %d belongs to the run of request %s here, which is not finished", b.Manifest.Number, other.Ref.RequestID)}
		}
	}
	return nil
}

// take puts everything in its place, and the run itself last: until then, taking it again finds it older.
func take(ctx context.Context, p *app.App, b *bundle.Bundle) error {
	for _, ref := range b.Manifest.Refs {
		if err := takeRef(ctx, p, ref); err != nil {
			return err
		}
	}
	if err := b.Records(ctx, p.Store); err != nil {
		return err
	}
	if err := b.Place(p.Root); err != nil {
		return err
	}
	status := registry.IssueStatusOf(&b.Run)
	return p.Store.IssueStatus(status.Issue).Update(ctx, func(s *registry.IssueStatus) error {
		status.Unknown = s.Unknown
		*s = status
		return nil
	})
}

// takeRef moves a ref forward to where it was saved. Commits that only this checkout has stay on it.
func takeRef(ctx context.Context, p *app.App, ref bundle.Ref) error {
	at, err := p.Repo.Resolve(ctx, ref.Name)
	if errors.Is(err, git.ErrNotFound) {
		return p.Repo.UpdateRef(ctx, ref.Name, ref.ID, "")
	}
	if err != nil || at == ref.ID {
		return err
	}
	behind, err := p.Repo.IsAncestor(ctx, at, ref.ID)
	if err != nil {
		return err
	}
	if behind {
		return p.Repo.UpdateRef(ctx, ref.Name, ref.ID, at)
	}
	if ahead, err := p.Repo.IsAncestor(ctx, ref.ID, at); err != nil || ahead {
		return err
	}
	return &problem.Error{Err: fmt.Errorf("%s has commits here that the saved state lacks", ref.Name), Hint: "give them a name of their own (git branch mine " + ref.Name + "), delete that ref, and restore again"}
}
