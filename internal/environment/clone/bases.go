package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
)

// cacheFolder is where bases lie, in the folder of the environments' private folders.
const cacheFolder = "cache"

// List is what is kept for later environments, most recently used first.
func (d *Driver) List(ctx context.Context) ([]cache.Entry, error) {
	if !folder.Is(d.bases.Dir) {
		return nil, nil
	}
	unlock, err := d.bases.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	entries, err := d.bases.Entries()
	if err != nil {
		return nil, err
	}
	users, err := d.users()
	for i := range entries {
		entries[i].Users = users[entries[i].ID]
	}
	return entries, err
}

// Prune deletes what is kept, least recently used first, until the rest takes no more than limit
// bytes. What an environment stands on stays. With dry nothing is deleted, only named.
func (d *Driver) Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error) {
	if !folder.Is(d.bases.Dir) {
		return nil, nil
	}
	return d.bases.Prune(ctx, limit, dry, d.users)
}

func (d *Driver) prune(ctx context.Context) error {
	_, err := d.Prune(ctx, d.config.Cache, false)
	return err
}

// users are the environments that stand on each base, or are making it, as their markers say.
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
		m, err := layout{private: filepath.Join(d.config.State, f.Name())}.load()
		if err != nil {
			return nil, err
		}
		if m != nil && m.Warm != nil {
			users[m.Warm.Base] = append(users[m.Warm.Base], f.Name())
		}
		if m != nil && m.Keeping != "" {
			users[m.Keeping] = append(users[m.Keeping], f.Name())
		}
	}
	return users, nil
}
