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

// Prune deletes snapshots, least recently used first, until the rest take at most limit bytes. It also deletes forgotten and abandoned ones. users
// returns, by id, the environments that use or make a snapshot; those snapshots stay. With dry nothing is deleted. Prune returns the snapshots that were, or
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
			return gone, fmt.Errorf("delete snapshot %s: %w", name, err)
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
	aside := map[string]string{}
	for _, e := range gone {
		aside[e.ID] = c.Path(e.ID)
	}
	names, err := c.named(unfinished) // their makers may have died and won't continue
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if id := strings.TrimPrefix(name, unfinished); len(used[id]) == 0 {
			aside[id] = c.Staging(id)
		}
	}
	for id, path := range aside {
		if err := os.Rename(path, filepath.Join(c.Dir, condemned+id)); err != nil {
			return nil, fmt.Errorf("rename snapshot %s to delete it: %w", id, err)
		}
	}
	return gone, nil
}

const (
	unfinished = ".new-"
	condemned  = ".old-"
)

// named returns the names in the folder with this prefix.
func (c *Cache) named(prefix string) (names []string, err error) {
	found, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	for _, f := range found {
		if strings.HasPrefix(f.Name(), prefix) {
			names = append(names, f.Name())
		}
	}
	return names, nil
}
