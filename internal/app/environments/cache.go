package environments

import (
	"context"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/environment/cache"
	"signalbox/internal/wire"
)

// keeper is a driver that keeps verified environments.
type keeper interface {
	List(ctx context.Context) ([]cache.Entry, error)
	Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error)
}

// Cached are the verified environments that are kept, most recently used first; none where the driver keeps nothing.
func Cached(ctx context.Context, p *app.App) ([]cache.Entry, error) {
	k, ok := p.Environments.(keeper)
	if !ok {
		return []cache.Entry{}, nil
	}
	kept, err := k.List(ctx)
	return append([]cache.Entry{}, kept...), wire.Explained(err)
}

// Prune deletes cached environments, least recently used first, until the rest takes no more than limit bytes; what an environment
// stands on stays. In a dry run all stays, and gone is what would go.
func Prune(ctx context.Context, p *app.App, limit int64, dry bool) (gone, kept []cache.Entry, err error) {
	gone = []cache.Entry{}
	if k, ok := p.Environments.(keeper); ok {
		found, err := k.Prune(ctx, limit, dry)
		if err != nil {
			return gone, nil, wire.Explained(err)
		}
		gone = append(gone, found...)
	}
	kept, err = Cached(ctx, p)
	return gone, slices.DeleteFunc(kept, func(e cache.Entry) bool {
		return slices.ContainsFunc(gone, func(g cache.Entry) bool { return g.ID == e.ID })
	}), err
}
