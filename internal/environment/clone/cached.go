package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
)

// cacheFolder is the snapshots' folder, in the folder of the environments' private folders.
const cacheFolder = "cache"

// List returns the snapshots kept for later environments, most recently used first.
func (d *Driver) List(ctx context.Context) ([]cache.Entry, error) {
	if !folder.Is(d.snapshots.Dir) {
		return nil, nil
	}
	unlock, err := d.snapshots.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := d.snapshots.Entries()
	if err != nil {
		return nil, err
	}
	users, err := d.users()
	for i := range entries {
		entries[i].Users = users[entries[i].ID]
	}
	return entries, err
}

// Prune deletes snapshots, least recently used first, until the rest take no more than limit bytes. Snapshots in use stay. With
// dry it only returns what it would delete.
func (d *Driver) Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error) {
	if !folder.Is(d.snapshots.Dir) {
		return nil, nil
	}
	return d.snapshots.Prune(ctx, limit, dry, d.users)
}

// users returns the environments that use or make each snapshot, according to their markers.
func (d *Driver) users() (map[string][]string, error) {
	found, err := os.ReadDir(d.config.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list environments: %w", err)
	}
	users := map[string][]string{}
	for _, f := range found {
		if !idPattern().MatchString(f.Name()) || f.Name() == cacheFolder {
			continue
		}
		m, err := d.layout(environment.Spec{ID: f.Name()}).load()
		if err != nil {
			return nil, err
		}
		if m != nil && m.Warm != nil {
			users[m.Warm.Snapshot] = append(users[m.Warm.Snapshot], f.Name())
		}
		if m != nil && m.Keeping != "" {
			users[m.Keeping] = append(users[m.Keeping], f.Name())
		}
	}
	return users, nil
}

// Evict implements environment.Environment. Environments that use the snapshot keep it.
func (e *Environment) Evict(ctx context.Context, key string) error {
	d := e.driver
	if !folder.Is(d.snapshots.Dir) {
		return nil
	}
	unlock, err := d.snapshots.Lock(ctx)
	if err == nil {
		err = d.snapshots.Evict(key)
		unlock()
	}
	if err == nil {
		_, err = d.Prune(ctx, d.config.Cache, false)
	}
	if err != nil {
		return fmt.Errorf("evict environments kept as %s: %w", key, err)
	}
	return nil
}
