package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/workflow"
)

// sweptListing is an update too, of the index.
const sweptListing = "listing"

// eagerIndex names every file at once. A test that changes one afterwards lets a
// tick of the file system's clock pass before (indexListing).
var eagerIndex = indexRules{worth: 1}

func beginListing(ctx context.Context, s *Store) (func() error, error) {
	s.index = eagerIndex
	return func() error { return threeAreListed(ctx, s) }, nil
}

func threeAreListed(ctx context.Context, s *Store) error {
	all, err := s.IssueStatuses(ctx)
	for i, entry := range all {
		err = errors.Join(err, entry.Err)
		if entry.Issue != i+1 || entry.Status.Issue != i+1 || entry.Status.Status != workflow.IssueComplete {
			err = errors.Join(err, fmt.Errorf("number %d is %+v", i, entry))
		}
	}
	if len(all) != 3 {
		err = errors.Join(err, fmt.Errorf("%d are listed", len(all)))
	}
	return err
}

// beforeListing are the states in which a listing writes an index.
var beforeListing = map[string]func(t *testing.T) *Store{
	"the first index": func(t *testing.T) *Store {
		s := openStore(t)
		threeStatuses(t, s)
		return s
	},
	"an index that is out of date": func(t *testing.T) *Store {
		s := openStore(t)
		write(t, s, statusDir+"/2.json", `{"issue": 2, "status": "error"}`)
		write(t, s, statusDir+"/9.json", `{"issue": 9, "status": "error"}`)
		indexListing(t, s)
		if err := os.Remove(s.path + "/" + statusDir + "/9.json"); err != nil {
			t.Fatal(err)
		}
		threeStatuses(t, s)
		return s
	},
}

func TestAListingKilledAtAnySystemCallLeavesTheNextOneRight(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	for name, prepared := range beforeListing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := pointsOf(t, prepared(t), sweptListing, "renameat")
			left := 0
			for _, p := range points {
				s := prepared(t)
				got := traced(t, s, sweptListing, 0, "-e", "trace="+p.call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", p.call, p.n))
				if !got.killed || len(got.calls) != p.n || got.said != "" {
					t.Errorf("%s: the kill did not land: said %q after %q", p, got.said, got.calls)
					continue
				}
				left += len(temporariesIn(t, s))
				mustListOn(t, s, p.String())
			}
			if left == 0 {
				t.Error("no kill left a temporary file, so that none was swept")
			}
			t.Logf("%d kills, %d temporary files left and swept", len(points), left)
		})
	}
}

// What goes wrong with the index is nobody's concern but the next listing's.
func TestAListingRefusedAnySystemCallOfItsIndexIsRight(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	for name, prepared := range beforeListing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := pointsOf(t, prepared(t), sweptListing, "renameat")
			points = points[:len(points)-1] // the acknowledgement is not the store's
			// The folder of the files is opened before anything is asked about the index.
			opened := slices.IndexFunc(points, func(p point) bool { return p.call == "statfs" })
			if opened < 0 {
				t.Fatalf("no index is looked for in %v", points)
			}
			survived := 0
			for i, p := range points {
				for _, errno := range faults {
					s, at := prepared(t), fmt.Sprintf("%s is %s", p, unix.ErrnoName(errno))
					got := traced(t, s, sweptListing, errno, "-e", "trace="+p.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d", p.call, unix.ErrnoName(errno), p.n))
					switch {
					case got.injected() < 0:
						t.Errorf("%s: nothing was refused: %q", at, got.calls)
					case got.said == "acknowledged":
						survived++
					case i >= opened || !strings.HasPrefix(got.said, "refused true"):
						t.Errorf("%s: %s", at, got.said)
					}
					if left := temporariesIn(t, s); len(left) > 0 {
						t.Errorf("%s: left %q", at, left)
					}
					mustListOn(t, s, at)
				}
			}
			t.Logf("%d calls refused for %d reasons each, %d of them about the index; %d survived", len(points), len(faults), len(points)-opened, survived)
		})
	}
}

// mustListOn starts on what a listing left: the next ones are right, with whatever
// index there is and with their own, and nothing else stays behind.
func mustListOn(t *testing.T, s *Store, at string) {
	t.Helper()
	s = openAt(t, Config{Root: s.path})
	s.index = eagerIndex
	for range 2 {
		if err := threeAreListed(t.Context(), s); err != nil {
			t.Errorf("%s: afterwards: %v", at, err)
		}
	}
	if issues := issuesInIndex(t, s); !slices.Equal(issues, []int{1, 2, 3}) {
		t.Errorf("%s: the index names %v", at, issues)
	}
	if left := temporariesIn(t, s); len(left) > 0 {
		t.Errorf("%s: left %q", at, left)
	}
}
