package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestAnIndexIsWrittenOnlyWhereItIsWorthIt(t *testing.T) {
	t.Parallel()
	s := fiveStatuses(t)
	list := func(worth int) {
		t.Helper()
		s.index = indexRules{worth: worth}
		if _, err := s.IssueStatuses(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	list(6)
	if _, err := os.Stat(filepath.Join(s.path, indexPath)); !os.IsNotExist(err) {
		t.Fatalf("an index for five files: %v", err)
	}
	list(5)
	info, err := os.Stat(filepath.Join(s.path, indexPath))
	if err != nil || info.Mode() != privateFile {
		t.Fatalf("%v, %v", info, err)
	}
	nextTick(t, s)
	write(t, s, statusDir+"/6.json", statusText(6, workflow.IssueRunning))
	for _, issue := range []string{"1", "2"} {
		if err := os.Remove(filepath.Join(s.path, statusDir, issue+".json")); err != nil {
			t.Fatal(err)
		}
	}
	if list(3); !slices.Equal(issuesInIndex(t, s), []int{1, 2, 3, 4, 5}) {
		t.Errorf("written for two changes: %v", issuesInIndex(t, s))
	}
	if list(2); !slices.Equal(issuesInIndex(t, s), []int{3, 4, 5, 6}) {
		t.Errorf("after two removals it names %v", issuesInIndex(t, s))
	}
	if left := temporariesIn(t, s); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func TestWhereNothingHidesItFromGitNoIndexIsWritten(t *testing.T) {
	t.Parallel()
	for _, without := range []string{privateDir, privateDir + "/" + ignoreName} {
		s := fiveStatuses(t)
		if err := os.RemoveAll(filepath.Join(s.path, without)); err != nil {
			t.Fatal(err)
		}
		before := tree(t, s.path)
		if got, want := listed(t, s, statfs), listed(t, s, onNFS); got != want {
			t.Errorf("without %s listed are\n%s\nwithout an index\n%s", without, got, want)
		}
		if after := tree(t, s.path); !slices.Equal(before, after) {
			t.Errorf("without %s the folder was %q and is %q", without, before, after)
		}
	}
}

func TestAnythingOddAboutAnIndexMakesANewOne(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string, good []byte) error{
		"truncated":     func(path string, good []byte) error { return os.Truncate(path, int64(len(good))-1) },
		"empty":         func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"far too large": func(path string, _ []byte) error { return os.Truncate(path, maxIndex+1) },
		"a bit flipped": func(path string, good []byte) error {
			good[len(good)/2] ^= 1
			return os.WriteFile(path, good, privateFile)
		},
		"another version": func(path string, good []byte) error {
			return os.WriteFile(path, resummed(good, "index 1 ", "index 2 "), privateFile)
		},
		"another start": func(path string, good []byte) error { return os.WriteFile(path, resummed(good, "-", "_"), privateFile) },
		"a second name": func(path string, _ []byte) error { return os.Link(path, path+".link") },
		"removed":       func(path string, _ []byte) error { return os.Remove(path) },
		"a link elsewhere": func(path string, _ []byte) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(path)+".old", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fiveStatuses(t)
			indexListing(t, s)
			index := readTestIndex(t, s)
			index[0].data = []byte(strings.Repeat("x", len(index[0].data))) // were the index used, it would be seen
			put(t, s, index)
			if err := spoil(filepath.Join(s.path, indexPath), []byte(read(t, s, indexPath))); err != nil {
				t.Fatal(err)
			}
			got, want := listed(t, s, statfs), listed(t, s, onNFS)
			if got != want {
				t.Errorf("listed are\n%s\nwithout an index\n%s", got, want)
			}
			if issues := issuesInIndex(t, s); !slices.Equal(issues, []int{1, 2, 3, 4, 5}) {
				t.Errorf("the new index names %v", issues)
			}
		})
	}
}

// resummed is an index with another text in it and the sum of that.
func resummed(index []byte, old, text string) []byte {
	return summed(bytes.Replace(index[:len(index)-indexSumSize], []byte(old), []byte(text), 1))
}

func TestACanceledListingLeavesTheIndexAsItIs(t *testing.T) {
	t.Parallel()
	s := fiveStatuses(t)
	indexListing(t, s)
	before := identityAt(t, filepath.Join(s.path, indexPath))
	write(t, s, statusDir+"/6.json", statusText(6, workflow.IssueRunning))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := s.IssueStatuses(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", all, err)
	}
	if after := identityAt(t, filepath.Join(s.path, indexPath)); before != after || len(temporariesIn(t, s)) > 0 {
		t.Errorf("the index was written, or %q left", temporariesIn(t, s))
	}
}
