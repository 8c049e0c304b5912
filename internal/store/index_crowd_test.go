package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counters are files that are rewritten, in place and by replacement; said is
// what each has said at least.
type counters struct {
	dir  string
	said [20]atomic.Int64
}

func (c *counters) write(issue, n int) error {
	name := filepath.Join(c.dir, strconv.Itoa(issue)+".json")
	text := fmt.Sprintf(`{"issue": %d, "status": "error", "error_message": "%03d"}`, issue, n)
	var err error
	if n%10 == 0 {
		err = errors.Join(os.WriteFile(name+".new", []byte(text), publicFile), os.Rename(name+".new", name))
	} else {
		err = inPlace(name, text) // one byte is another: nobody can read a half of it
	}
	c.said[issue-1].Store(int64(n))
	return err
}

// mustList lists, and wants of each file what it said when that began, or later.
func (c *counters) mustList(t *testing.T, s *Store) {
	t.Helper()
	var least [len(c.said)]int64
	for i := range least {
		least[i] = c.said[i].Load()
	}
	all, err := s.IssueStatuses(t.Context())
	if err != nil || len(all) != len(least) {
		t.Errorf("%d listed, %v", len(all), err)
		return
	}
	for i, entry := range all {
		if n, err := strconv.ParseInt(entry.Status.ErrorMessage, 10, 64); err != nil || n < least[i] {
			t.Errorf("issue %d says %q, %v: it had said %d before", entry.Issue, entry.Status.ErrorMessage, entry.Err, least[i])
		}
	}
}

func TestListingsWhileFilesChangeAreNeverOutOfDate(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := &counters{dir: filepath.Join(s.path, statusDir)}
	if err := os.MkdirAll(c.dir, publicDir); err != nil {
		t.Fatal(err)
	}
	for issue := range c.said {
		if err := c.write(issue+1, 0); err != nil {
			t.Fatal(err)
		}
	}
	done, named := make(chan struct{}), 0
	var listers sync.WaitGroup
	for range 3 {
		lister := openAt(t, Config{Root: s.path})
		lister.index = indexRules{worth: 1, settled: 20 * time.Millisecond} // longer than a tick
		listers.Go(func() {
			for !isClosed(done) {
				c.mustList(t, lister)
			}
		})
	}
	for n := 1; n <= 25; n++ {
		for issue := range c.said {
			if err := c.write(issue+1, n); err != nil {
				t.Error(err)
			}
			nextTick(t, s)
		}
		if data, err := os.ReadFile(filepath.Join(s.path, indexPath)); err == nil {
			index, err := decodeIndex(data, s.self.BootID)
			if err != nil {
				t.Error(err)
			}
			named += len(index.begins)
		}
	}
	close(done)
	listers.Wait()
	t.Logf("an index named %d files on average", named/25)
	if named == 0 {
		t.Error("no file was ever in the index")
	}
	if left := temporariesIn(t, s); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
