package notify

import (
	"context"
	"errors"

	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// told is what was last told about a run.
type told struct {
	News string `json:"news"`
	// Transition is the run's when it was.
	Transition int `json:"transition"`
}

var errKnown = errors.New("it is known")

// Claim reports whether news of a run is for the caller to tell. It says so once for all processes and for ever: if the caller is killed before it
// tells, no other does, because it may have. Empty news is none, after which the same news is new again.
func Claim(ctx context.Context, s *store.Store, run *workflow.Run, news string) (bool, error) {
	err := store.Record[told](s, "notices", run.RunID).Update(ctx, func(t *told) error {
		if t.News == news || run.Details.Transition < t.Transition { // a slow process has an old run
			return errKnown
		}
		*t = told{news, run.Details.Transition}
		return nil
	})
	if errors.Is(err, errKnown) {
		return false, nil
	}
	return err == nil && news != "", err
}

// pages says where a project's pages are.
type pages struct {
	Address string `json:"address"`
}

// SetPages has messages link to the project's pages below an address, such as http://127.0.0.1:7411/p/parser; with "", to none.
func SetPages(ctx context.Context, s *store.Store, address string) error {
	return store.Record[pages](s, "serve", "pages").Update(ctx, func(p *pages) error {
		p.Address = address
		return nil
	})
}

// Pages returns the address of the project's pages; empty if none are served.
func Pages(ctx context.Context, s *store.Store) string {
	p, err := store.Record[pages](s, "serve", "pages").Load(ctx)
	if err != nil {
		return ""
	}
	return p.Address
}

// PageOf returns the address of a run's page; empty if none is served.
func PageOf(ctx context.Context, s *store.Store, run *workflow.Run) string {
	address := Pages(ctx, s)
	if address == "" {
		return ""
	}
	return address + "/runs/" + run.RequestID
}
