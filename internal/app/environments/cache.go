package environments

import (
	"context"
	"slices"

	"signalbox/internal/app"
	"signalbox/internal/environment/cache"
	"signalbox/internal/wire"
)

// cacher is a driver that caches verified environments.
type cacher interface {
	List(ctx context.Context) ([]cache.Entry, error)
	Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error)
}

// Cached are the cached environments, most recently used first; none if the driver has no cache.
func Cached(ctx context.Context, p *app.App) ([]cache.Entry, error) {
	k, ok := p.Environments.(cacher)
	if !ok {
		return []cache.Entry{}, nil
	}
	kept, err := k.List(ctx)
	return append([]cache.Entry{}, kept...), wire.Explained(err)
}

// Prune deletes cached environments, least recently used first, until the rest takes no more than limit bytes. It keeps what another
// environment is based on. A dry run deletes nothing, and gone is what would be deleted.
func Prune(ctx context.Context, p *app.App, limit int64, dry bool) (gone, kept []cache.Entry, err error) {
	gone = []cache.Entry{}
	if k, ok := p.Environments.(cacher); ok {
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
