package container

import (
	"context"
	"errors"

	"signalbox/internal/environment/cache"
)

// List returns what is kept for later environments, most recently used first. Its sizes are those of
// the work folders; the images share most of theirs.
func (d *Driver) List(ctx context.Context) ([]cache.Entry, error) { return d.clone.List(ctx) }

// Prune deletes what is kept as the clone driver does, and the images with it.
func (d *Driver) Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error) {
	gone, err := d.clone.Prune(ctx, limit, dry)
	if !dry {
		for _, entry := range gone {
			err = errors.Join(err, d.dropImage(ctx, d.kept(entry.Key)))
		}
	}
	return gone, hint(err)
}
