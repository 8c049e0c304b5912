package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Find returns the most recently used snapshot that suits, or nil. The caller holds the lock until its use of the snapshot is recorded, and then calls
// Touch.
func (c *Cache) Find(suits func(*Entry) bool) (*Entry, error) {
	entries, err := c.Entries()
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if e := &entries[i]; !e.Forgotten && suits(e) {
			return e, nil
		}
	}
	return nil, nil
}

// Entries returns all complete snapshots, most recently used first. Other folders are ignored.
func (c *Cache) Entries() ([]Entry, error) {
	found, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var entries []Entry
	for _, f := range found {
		if !idPattern().MatchString(f.Name()) {
			continue
		}
		e, err := c.entry(f.Name())
		if errors.Is(err, fs.ErrNotExist) { // incomplete
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read snapshot %s: %w", f.Name(), err)
		}
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	return entries, nil
}

// entry reads a snapshot. It never uses an unreadable one, but returns it for Prune to delete.
func (c *Cache) entry(id string) (e Entry, err error) {
	path := filepath.Join(c.Path(id), entryFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, err
	}
	if err := json.Unmarshal(data, &e); err != nil || e.ID != id {
		return Entry{ID: id, Key: id, Forgotten: true}, nil //nolint:nilerr // see above
	}
	info, err := os.Stat(path)
	if err != nil {
		return Entry{}, err
	}
	e.Used = info.ModTime()
	e.Forgotten, err = exists(filepath.Join(c.Path(id), forgottenFile))
	e.Forgotten = e.Forgotten || e.Version != c.Version
	return e, err
}
