// Package cache owns the folder of cached environments, called snapshots: which there are, when each was last used, and how much disk they take. It
// never deletes a snapshot in use. It does not know what a snapshot is made of.
//
// A snapshot is a folder named after its id. While it is being made it is called .new-<id> and belongs to its maker. Publish renames it, so after a
// crash a snapshot is complete or absent. A snapshot being deleted is called .old-<id>.
package cache

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/lazy"
)

// Entry is one snapshot. Its maker writes it once, with Describe.
type Entry struct {
	// ID is the name of the snapshot's folder: the key, a dot, and a random part.
	ID  string `json:"id"`
	Key string `json:"key"`
	// Environment is the id of the environment that it was made in.
	Environment string `json:"environment"`
	// Commit is the commit of its tracked files.
	Commit string `json:"commit"`
	// Version is the version of the driver's format. A snapshot of another version than the Cache's is Forgotten.
	Version string `json:"version"`
	// Dir and Home are the paths of its folders as commands saw them; absolute paths in its files are only valid there.
	Dir  string `json:"dir"`
	Home string `json:"home"`
	// Bytes and Files are its size on disk.
	Bytes   int64     `json:"bytes"`
	Files   int64     `json:"files"`
	Created time.Time `json:"created_at"`

	// Used is when an environment last started from it.
	Used time.Time `json:"last_used_at"`
	// Users are the environments made from it that still exist.
	Users []string `json:"in_use_by"`
	// Forgotten: no new environment starts from it. It is deleted when its last user is gone.
	Forgotten bool `json:"forgotten"`
}

// Cache is the cache of one project. Several processes may use it at once. All fields are required.
type Cache struct {
	// Dir is the folder, an absolute path. It is created with the first snapshot.
	Dir   string
	Clock func() time.Time
	// Version is the version of the snapshots that can be used.
	Version string
	// Remove deletes a folder whatever it contains.
	Remove func(dir string) error
}

var (
	keyPattern = lazy.Pattern(`^[a-z0-9][a-z0-9-]{0,99}$`)
	idPattern  = lazy.Pattern(`^[a-z0-9][a-z0-9-]{0,99}\.[0-9a-f]{16}$`)
)

// The cache's own files in a snapshot.
const (
	entryFile     = "base.json" // written last: without it a snapshot is incomplete
	forgottenFile = "forgotten"
)

// NewID returns an id for a new snapshot.
func NewID(key string) (string, error) {
	if !keyPattern().MatchString(key) {
		return "", fmt.Errorf("key %q: want %s", key, keyPattern())
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // it never returns an error
	return key + "." + hex.EncodeToString(unique[:]), nil
}

// Path returns the folder of a snapshot.
func (c *Cache) Path(id string) string { return filepath.Join(c.Dir, id) }

// Staging returns the folder in which a snapshot is made.
func (c *Cache) Staging(id string) string { return filepath.Join(c.Dir, unfinished+id) }

// Stage creates the empty folder in which a snapshot is made.
func (c *Cache) Stage(id string) (dir string, err error) {
	dir = c.Staging(id)
	if err := c.Remove(dir); err != nil {
		return "", fmt.Errorf("empty %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make folder for a snapshot: %w", err)
	}
	return dir, nil
}

// Describe records what is being made. After a crash, a snapshot with a description can be completed.
func (c *Cache) Describe(e Entry) error {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return fmt.Errorf("describe snapshot %s: %w", e.ID, err)
	}
	if err := ReplaceFile(filepath.Join(c.Staging(e.ID), entryFile), data); err != nil {
		return fmt.Errorf("describe snapshot %s: %w", e.ID, err)
	}
	return nil
}

// Described reports whether the snapshot being made got as far as Describe.
func (c *Cache) Described(id string) (bool, error) {
	return exists(filepath.Join(c.Staging(id), entryFile))
}

// Published reports whether the snapshot exists.
func (c *Cache) Published(id string) (bool, error) {
	return exists(filepath.Join(c.Path(id), entryFile))
}

// Publish renames a described snapshot to its final name. Doing it again is no error.
func (c *Cache) Publish(id string) error {
	err := os.Rename(c.Staging(id), c.Path(id))
	if errors.Is(err, fs.ErrNotExist) {
		if there, thereErr := c.Published(id); there || thereErr != nil {
			err = thereErr
		}
	}
	if err != nil {
		return fmt.Errorf("publish snapshot %s: %w", id, err)
	}
	return errors.Join(c.Touch(id), SyncFolder(c.Dir))
}

// Touch records that an environment starts from the snapshot now.
func (c *Cache) Touch(id string) error {
	now := c.Clock()
	if err := os.Chtimes(filepath.Join(c.Path(id), entryFile), now, now); err != nil {
		return fmt.Errorf("note use of snapshot %s: %w", id, err)
	}
	return nil
}

// Evict keeps new environments from starting from the snapshots of key. The next Prune deletes them.
func (c *Cache) Evict(key string) error {
	entries, err := c.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Key != key {
			continue
		}
		if err := writeDurably(filepath.Join(c.Path(e.ID), forgottenFile), nil); err != nil {
			return fmt.Errorf("forget snapshot %s: %w", e.ID, err)
		}
	}
	return nil
}

// Lock keeps other processes and goroutines from choosing, publishing and deleting snapshots until unlock is called. It is held briefly. The file is
// never removed: a process waiting on a removed file would get a lock that others can't see.
func (c *Cache) Lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache's folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(c.Dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	if err := flock.Wait(ctx, f); err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	return func() { _ = flock.Release(f) }, nil
}
