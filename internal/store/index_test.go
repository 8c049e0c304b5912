package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/workflow"
)

const indexPath = privateDir + "/" + indexFileName

// indexListing lists once, which writes an index that names every file, and
// returns in a later tick of the file system's clock: a change from now on has a
// time of its own.
func indexListing(t *testing.T, s *Store) {
	t.Helper()
	s.index = eagerIndex
	if _, err := s.IssueStatuses(t.Context()); err != nil {
		t.Fatal(err)
	}
	nextTick(t, s)
}

func nextTick(t *testing.T, s *Store) {
	t.Helper()
	first := touched(t, s)
	for deadline := time.Now().Add(10 * time.Second); touched(t, s) == first; {
		if time.Now().After(deadline) {
			t.Fatal("the file system's clock stands still")
		}
	}
}

func touched(t *testing.T, s *Store) unix.Timespec {
	t.Helper()
	name := filepath.Join(s.path, "clock")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return identityAt(t, name).ctime
}

func identityAt(t *testing.T, name string) identity {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		t.Fatal(err)
	}
	return identityOf(st)
}

func readTestIndex(t *testing.T, s *Store) []indexed {
	t.Helper()
	index, err := decodeIndex([]byte(read(t, s, indexPath)), s.self.BootID)
	if err != nil {
		t.Fatal(err)
	}
	return index.all()
}

func (x statusIndex) all() []indexed {
	all := make([]indexed, 0, len(x.begins))
	for i, begin := range x.begins {
		e, _ := x.of(x.issue(begin), i)
		all = append(all, e)
	}
	return all
}

func issuesInIndex(t *testing.T, s *Store) (issues []int) {
	t.Helper()
	for _, e := range readTestIndex(t, s) {
		issues = append(issues, e.issue)
	}
	return issues
}

func statusText(issue int, word workflow.IssueStatusWord) string {
	return fmt.Sprintf(`{"issue": %d, "status": %q, "timestamp": "2026-11-20T10:11:12Z"}`, issue, word)
}

// fiveStatuses is a store with as many files, the last of them broken.
func fiveStatuses(t *testing.T) *Store {
	t.Helper()
	return fiveStatusesAt(t, t.TempDir())
}

func fiveStatusesAt(t *testing.T, root string) *Store {
	t.Helper()
	s := openAt(t, Config{Root: root})
	for issue := 1; issue <= 4; issue++ {
		write(t, s, fmt.Sprintf("%s/%d.json", statusDir, issue), statusText(issue, workflow.IssueRunning))
	}
	write(t, s, statusDir+"/5.json", `{"issue": 5, "status": "sleeping"}`)
	return s
}

// listed is the listing as text, of a Store as it is opened to read only.
func listed(t *testing.T, s *Store, stat statfsFunc) string {
	t.Helper()
	reader, err := open(t.Context(), Config{Root: s.path, ReadOnly: true}, stat)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	reader.index = eagerIndex
	all, err := reader.IssueStatuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range all {
		lines = append(lines, fmt.Sprintf("%d %+v %v", e.Issue, e.Status, e.Err))
	}
	return strings.Join(lines, "\n")
}

// The bytes in the index are others than those in the file, so that what is
// listed tells where it is from.
func TestAFileThatIsWhatItWasIsNotOpened(t *testing.T) {
	t.Parallel()
	s := fiveStatuses(t)
	indexListing(t, s)
	index := readTestIndex(t, s)
	index[1].data = []byte(strings.Replace(string(index[1].data), "running", "error", 1) + "  ")
	put(t, s, index)
	all, err := s.IssueStatuses(t.Context())
	if err != nil || len(all) != 5 || all[1].Status.Status != workflow.IssueError || all[2].Status.Status != workflow.IssueRunning {
		t.Errorf("%+v, %v", all, err)
	}
	if got := listed(t, s, onNFS); strings.Contains(got, "{Issue:2 Status:error") {
		t.Errorf("an index was used for files on a network:\n%s", got)
	}
}

func put(t *testing.T, s *Store, index []indexed) {
	t.Helper()
	data, err := encodeIndex(index, s.self.BootID)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, indexPath, string(data))
}

func TestAFileThatWasJustChangedIsNotInTheIndex(t *testing.T) {
	t.Parallel()
	s := fiveStatuses(t)
	s.index.worth = 1
	for _, word := range []workflow.IssueStatusWord{"running", "error  ", "running"} { // within one tick, if it is fast
		if err := inPlace(filepath.Join(s.path, statusDir, "2.json"), statusText(2, word)); err != nil {
			t.Fatal(err)
		}
		all, err := s.IssueStatuses(t.Context())
		if err != nil || len(all) != 5 || (all[1].Err == nil) != (word == "running") {
			t.Errorf("%q is listed as %+v, %v", word, all, err)
		}
		if _, err := os.Stat(filepath.Join(s.path, indexPath)); !os.IsNotExist(err) {
			t.Errorf("an index was written: %v", err)
		}
	}
}

func TestWhatAnIndexMayName(t *testing.T) {
	t.Parallel()
	begun := identity{dev: 7, ctime: unix.NsecToTimespec(testStart.UnixNano())}
	d := &indexDraft{store: &Store{index: defaultIndexRules}, begun: begun}
	aged := func(age time.Duration) identity {
		return identity{dev: 7, size: 2, ctime: unix.NsecToTimespec(testStart.Add(-age).UnixNano())}
	}
	other, large := aged(time.Hour), aged(time.Hour)
	other.dev, large.size = 8, maxIndexed+1
	for name, c := range map[string]struct {
		at   identity
		data string
		want bool
	}{
		"a file of two seconds":                {aged(2 * time.Second), "{}", true},
		"an older one":                         {aged(time.Hour), "{}", true},
		"one of nearly two seconds":            {aged(2*time.Second - 1), "{}", false},
		"one of the future":                    {aged(-time.Hour), "{}", false},
		"one of another device's clock":        {other, "{}", false},
		"one that was longer when it was read": {aged(time.Hour), "{} ", false},
		"one that was shorter":                 {aged(time.Hour), "{", false},
		"a large one":                          {large, strings.Repeat(" ", maxIndexed+1), false},
	} {
		if got := d.mayName(c.at, []byte(c.data)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
