package cache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"signalbox/internal/environment/cache"
)

func open(t *testing.T) *cache.Cache {
	t.Helper()
	now := time.Unix(1767323045, 0)
	return &cache.Cache{Dir: filepath.Join(t.TempDir(), "cache"), Remove: os.RemoveAll,
		Clock: func() time.Time { now = now.Add(time.Second); return now }}
}

func noUsers() (map[string][]string, error) { return nil, nil }

// stage makes a snapshot as far as Describe.
func stage(t *testing.T, c *cache.Cache, key string, bytes int64) (id string) {
	t.Helper()
	id, err := cache.NewID(key)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := c.Stage(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tree"), 0o700), c.Describe(cache.Entry{ID: id, Key: key, Bytes: bytes})); err != nil {
		t.Fatal(err)
	}
	return id
}

func publish(t *testing.T, c *cache.Cache, key string, bytes int64) (id string) {
	t.Helper()
	id = stage(t, c, key, bytes)
	if err := c.Publish(id); err != nil {
		t.Fatal(err)
	}
	return id
}

func found(t *testing.T, c *cache.Cache) (ids []string) {
	t.Helper()
	entries, err := c.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestASnapshotIsThereOnceItIsPublished(t *testing.T) {
	t.Parallel()
	c := open(t)
	expect(t, "at first", found(t, c))
	one := stage(t, c, "one", 1)
	expect(t, "while it is made", found(t, c))
	for range 2 {
		if err := c.Publish(one); err != nil {
			t.Fatal(err)
		}
	}
	two := publish(t, c, "two", 1)
	expect(t, "most recently used first", found(t, c), two, one)
	if err := c.Touch(one); err != nil {
		t.Fatal(err)
	}
	expect(t, "when it was used again", found(t, c), one, two)
}

func TestADamagedOrOlderSnapshotIsNotFound(t *testing.T) {
	t.Parallel()
	c := open(t)
	broken, moved, older := publish(t, c, "broken", 1), publish(t, c, "moved", 1), publish(t, c, "older", 1)
	elsewhere := "elsewhere" + moved[len("moved"):]
	for _, err := range []error{
		os.WriteFile(filepath.Join(c.Path(broken), "base.json"), []byte("{"), 0o600),
		os.Rename(c.Path(moved), c.Path(elsewhere)),
		os.MkdirAll(filepath.Join(c.Dir, "not-ours"), 0o700),
		os.WriteFile(filepath.Join(c.Path(older), "base.json"), []byte(`{"id": "`+older+`", "version": "of an older program"}`), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if e, err := c.Find(func(*cache.Entry) bool { return true }); e != nil || err != nil {
		t.Errorf("began from %v, %v", e, err)
	}
	if _, err := c.Prune(t.Context(), 1<<40, false, noUsers); err != nil {
		t.Fatal(err)
	}
	expect(t, "after deleting", found(t, c))
	if _, err := os.Stat(filepath.Join(c.Dir, "not-ours")); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", "..", "a/b", "A", "-a", "a.b", "a\n"} {
		if id, err := cache.NewID(key); err == nil {
			t.Errorf("key %q has the id %q", key, id)
		}
	}
}

func TestAForgottenSnapshotStaysWhileItIsInUse(t *testing.T) {
	t.Parallel()
	c := open(t)
	one, other := publish(t, c, "one", 1), publish(t, c, "other", 1)
	if err := c.Evict("one"); err != nil {
		t.Fatal(err)
	}
	if e, err := c.Find(func(*cache.Entry) bool { return true }); err != nil || e == nil || e.ID != other {
		t.Errorf("found %v, %v", e, err)
	}
	for _, used := range []bool{true, false} {
		users := func() (map[string][]string, error) {
			if used {
				return map[string][]string{one: {"issue-1"}}, nil
			}
			return nil, nil
		}
		if _, err := c.Prune(t.Context(), 1<<40, false, users); err != nil {
			t.Fatal(err)
		}
		if there := slices.Contains(found(t, c), one); there != used {
			t.Errorf("used %t, is there %t", used, there)
		}
	}
}

func TestAnAbandonedSnapshotIsDeleted(t *testing.T) {
	t.Parallel()
	c := open(t)
	dead, alive := stage(t, c, "one", 1), stage(t, c, "two", 1)
	users := func() (map[string][]string, error) { return map[string][]string{alive: {"issue-1"}}, nil }
	if _, err := c.Prune(t.Context(), 1<<40, false, users); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{dead: false, alive: true} {
		if there, err := c.Described(id); err != nil || there != want {
			t.Errorf("%s is there: %t, %v", id, there, err)
		}
	}
}

func TestTheLockIsOnes(t *testing.T) {
	t.Parallel()
	c := open(t)
	unlock, err := c.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("locked twice: %v", err)
	}
	got := make(chan error)
	go func() {
		again, err := c.Lock(t.Context())
		if err == nil {
			again()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}
