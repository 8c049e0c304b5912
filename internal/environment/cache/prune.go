package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Prune deletes bases, least recently used first, until the rest take at most limit bytes. It also deletes forgotten and abandoned ones. users
// returns, by id, the environments that use or make a base; those bases stay. With dry nothing is deleted. Prune returns the bases that were, or
// would be, deleted.
func (c *Cache) Prune(ctx context.Context, limit int64, dry bool, users func() (map[string][]string, error)) ([]Entry, error) {
	unlock, err := c.Lock(ctx)
	if err != nil {
		return nil, err
	}
	gone, err := c.condemn(limit, dry, users)
	unlock()
	if err != nil || dry {
		return gone, err
	}
	names, err := c.named(condemned) // now, or before a crash
	if err != nil {
		return gone, err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return gone, err
		}
		if err := c.Remove(filepath.Join(c.Dir, name)); err != nil {
			return gone, fmt.Errorf("delete base %s: %w", name, err)
		}
	}
	return gone, nil
}

// condemn renames what is to be deleted, because deleting takes long and needs no lock.
func (c *Cache) condemn(limit int64, dry bool, users func() (map[string][]string, error)) ([]Entry, error) {
	entries, err := c.Entries()
	if err != nil {
		return nil, err
	}
	used, err := users()
	if err != nil {
		return nil, err
	}
	var total int64
	for _, e := range entries {
		total += e.Bytes
	}
	var gone []Entry
	for _, e := range slices.Backward(entries) { // least recently used first
		if len(used[e.ID]) == 0 && (e.Forgotten || total > limit) {
			gone = append(gone, e)
			total -= e.Bytes
		}
	}
	if dry {
		return gone, nil
	}
	for _, e := range gone {
		if err := c.putAside(e.ID, c.Path(e.ID)); err != nil {
			return nil, err
		}
	}
	return gone, c.condemnUnfinished(used)
}

const (
	unfinished = ".new-"
	condemned  = ".old-"
)

// condemnUnfinished renames bases whose maker died and won't continue.
func (c *Cache) condemnUnfinished(used map[string][]string) error {
	names, err := c.named(unfinished)
	if err != nil {
		return err
	}
	for _, name := range names {
		if id := strings.TrimPrefix(name, unfinished); len(used[id]) == 0 {
			if err := c.putAside(id, c.Staging(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cache) putAside(id, path string) error {
	if err := os.Rename(path, filepath.Join(c.Dir, condemned+id)); err != nil {
		return fmt.Errorf("put base %s aside: %w", id, err)
	}
	return nil
}

// named returns the names in the folder with this prefix.
func (c *Cache) named(prefix string) (names []string, err error) {
	found, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list bases: %w", err)
	}
	for _, f := range found {
		if strings.HasPrefix(f.Name(), prefix) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}
