package clone

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
)

// ancestor is the base whose history the environment's is made from, nil if there is none: the
// one it stands on, else that which was used last. It is nearer to any commit than nothing.
func (e *Environment) ancestor(ctx context.Context, m *made) (*cache.Entry, error) {
	if e.way(ctx) == Off || !folder.Is(e.driver.bases.Dir) {
		return nil, nil
	}
	unlock, err := e.driver.bases.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.driver.bases.Find(func(b *cache.Entry) bool {
		return b.Version == baseVersion && (m.Warm == nil || m.Warm.Base == b.ID) && e.continues(ctx, b, m.Head)
	})
}

// continues reports whether the project still has what a base was made of, in the format of commit.
func (e *Environment) continues(ctx context.Context, base *cache.Entry, commit string) bool {
	_, err := e.driver.config.Repo.TreeOf(ctx, base.Commit)
	return err == nil && len(base.Commit) == len(commit)
}

// inherit gives the fresh clone the history of a base, which was counted and checked when the base
// was made. It is copied: what is done to the objects of a clone reaches no other. It reports false
// where the base's history is no whole one.
func (e *Environment) inherit(ctx context.Context, base *cache.Entry) (bool, error) {
	const objects = ".git/objects"
	source := filepath.Join(e.driver.bases.Path(base.ID), treeFolder)
	if _, err := os.Lstat(filepath.Join(source, ".git", "shallow")); err == nil {
		return false, nil // its history ends where the project's did then
	}
	if err := folder.Copy(ctx, filepath.Join(source, objects), filepath.Join(e.layout.fresh(), objects)); err != nil {
		return false, fmt.Errorf("copy the base's history: %w", err)
	}
	// Who deletes a base renames it first: one that is still there was there while it was copied.
	if whole, err := e.driver.bases.Published(base.ID); err != nil || !whole {
		return false, errors.Join(err, errNoBase)
	}
	return true, nil
}
