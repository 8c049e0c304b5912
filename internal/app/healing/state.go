// Package healing owns what a person can ask of the self-healing loop: to make a pass, to show its state and history, and to record
// facts in its state.json, which other repair layers do too. It prints nothing.
package healing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"signalbox/internal/app"
	"signalbox/internal/forge"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire"
)

// Restoration is what became of a broken state.json.
type Restoration = store.Restoration

// changed opens the document to change it.
func changed(ctx context.Context, o *app.Opener, change func(*store.Document[health.State]) error) (err error) {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(explained(change(s.Health())), s.Close())
}

// explained adds the command that repairs a broken state.json.
func explained(err error) error {
	if errors.Is(err, store.ErrBroken) {
		return &problem.Error{Err: err, Hint: `bring it back from state.json.bak: signalbox health restore`}
	}
	return wire.Explained(err)
}

// State reads the document as it is.
func State(ctx context.Context, o *app.Opener) (h health.State, err error) {
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return h, err
	}
	h, err = loadOrLost(ctx, s.Health())
	return h, errors.Join(explained(err), s.Close())
}

var errNone = errors.New("there is no state.json")

// loadOrLost reads the document as it is. A missing document with a sound backup counts as broken: there is something to restore.
func loadOrLost(ctx context.Context, doc *store.Document[health.State]) (health.State, error) {
	h, err := doc.Load(ctx)
	if !errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	_, lost, looked := doc.LoadOrBackup(ctx)
	if err = cmp.Or(lost.Broken, looked, err); errors.Is(err, fs.ErrNotExist) {
		err = &problem.Error{Err: errNone, Hint: "begin one: signalbox health init", Code: problem.NotFound}
	}
	return h, err
}

// Begin writes a state.json with all totals at zero. It refuses to replace one or, with force, keeps the old one under the name that
// it returns.
func Begin(ctx context.Context, o *app.Opener, force bool) (kept string, err error) {
	err = changed(ctx, o, func(doc *store.Document[health.State]) error {
		if _, err := loadOrLost(ctx, doc); err == nil && !force {
			return &problem.Error{Err: errors.New("there is a state.json, and its totals only grow"),
				Hint: `see it: signalbox health show; or begin anew: signalbox health init --force`}
		} else if !errors.Is(err, errNone) && !force {
			return err
		}
		kept, err = doc.BeginAnew(ctx)
		return err
	})
	return kept, err
}

// Restore replaces an unreadable document by its backup.
func Restore(ctx context.Context, o *app.Opener) (r Restoration, err error) {
	err = changed(ctx, o, func(doc *store.Document[health.State]) error {
		r, err = doc.Restore(ctx)
		return err
	})
	return r, err
}

// Recorded is the outcome of recording a fact.
type Recorded struct {
	State health.State
	// Was is the health before it.
	Was      string
	Restored Restoration
	// Request was opened because the fact made the state critical; nil if it didn't.
	Request *forge.Request
}

// Record adds a fact to the document, which it restores first if it can't be read. If the fact makes the state critical, Record opens
// a request about it, once.
func Record(ctx context.Context, o *app.Opener, fact health.Fact) (r Recorded, err error) {
	if err := fact.Validate(); err != nil {
		return r, &problem.Error{Err: err, Hint: `see "signalbox health record --help"`, Code: problem.Usage}
	}
	fact.Summary = redact.Named(redact.Clean(fact.Summary))
	err = changed(ctx, o, func(doc *store.Document[health.State]) (err error) {
		if r.Restored, err = doc.Restore(ctx); err != nil {
			return err
		}
		return doc.Update(ctx, func(state *health.State) error {
			r.Was = state.LastHealthStatus
			_, err := state.Record(fact, o.Now())
			r.State = *state
			return err
		})
	})
	if err == nil && r.State.CriticalKey() != "" && r.State.Loop.Request == "" {
		r.State, r.Request, err = Escalate(ctx, o)
	}
	return r, err
}

// Escalate opens the request about a critical state. It runs after the state was saved, and finds the request that it opened by the
// state's key, so it may be interrupted and repeated at any time.
func Escalate(ctx context.Context, o *app.Opener) (h health.State, opened *forge.Request, err error) {
	p, err := app.Open(ctx, o)
	if err != nil {
		return h, nil, notEscalated(err)
	}
	defer func() { err = errors.Join(err, p.Store.Close()) }()
	doc := p.Store.Health()
	if h, err = loadOrLost(ctx, doc); err != nil {
		return h, nil, explained(err)
	}
	key := h.CriticalKey()
	if key == "" {
		return h, nil, &problem.Error{Err: errors.New("the state is not critical; there is nothing to open a request about"), Hint: `see it: signalbox health show`}
	}
	request, err := heal.Escalate(ctx, p.Forge, p.Redact, h)
	if err != nil {
		return h, nil, notEscalated(err)
	}
	err = doc.Update(ctx, func(state *health.State) error {
		if state.CriticalKey() == key {
			state.Loop.Request = request.ID
		}
		return nil
	})
	return h, &request, explained(err)
}

// notEscalated is the error that the fact is recorded and the request isn't open.
func notEscalated(err error) error {
	return &problem.Error{Err: fmt.Errorf("the fact is recorded and the state critical, but no request is open about it: %w", err),
		Hint: `once that's fixed: signalbox health escalate`}
}
