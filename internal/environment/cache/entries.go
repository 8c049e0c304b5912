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

// Find returns the most recently used base that suits, or nil. The caller holds the lock until its use of the base is recorded, and then calls
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

// Entries returns all complete bases, most recently used first. Other folders are ignored.
func (c *Cache) Entries() ([]Entry, error) {
	found, err := os.ReadDir(c.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list bases: %w", err)
	}
	var entries []Entry
	for _, f := range found {
		if !idPattern().MatchString(f.Name()) {
			continue
		}
		e, err := c.entry(f.Name())
		if err != nil {
			return nil, err
		}
		if e != nil {
			entries = append(entries, *e)
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	return entries, nil
}

func (c *Cache) entry(id string) (*Entry, error) {
	path := filepath.Join(c.Path(id), entryFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read base %s: %w", id, err)
	}
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil || e.ID != id {
		return &Entry{ID: id, Key: id, Forgotten: true}, nil //nolint:nilerr // an unreadable base is never used
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read base %s: %w", id, err)
	}
	e.Used = info.ModTime()
	e.Forgotten, err = exists(filepath.Join(c.Path(id), forgottenFile))
	return &e, err
}
