package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// fiveOnTmpfs is the store of fiveStatuses on a file system of a megabyte.
func fiveOnTmpfs(t *testing.T) *Store {
	t.Helper()
	needs(t)
	hideMounts(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("mount tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return fiveStatusesAt(t, dir)
}

func TestOnAReadOnlyFileSystemAnIndexIsUsedAndNotMissed(t *testing.T) {
	t.Parallel()
	s := fiveOnTmpfs(t)
	want := listed(t, s, onNFS)
	indexListing(t, s)
	put(t, s, readTestIndex(t, s)[1:])
	if err := unix.Mount("", s.path, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if got := listed(t, s, statfs); got != want {
		t.Errorf("listed are\n%s\nwithout an index\n%s", got, want)
	}
	if issues := issuesInIndex(t, s); !slices.Equal(issues, []int{2, 3, 4, 5}) {
		t.Errorf("the index names %v", issues)
	}
}

func TestOnAFullDiskAListingDoesWithoutAnIndex(t *testing.T) {
	t.Parallel()
	s := fiveOnTmpfs(t)
	want := listed(t, s, onNFS)
	if err := os.WriteFile(filepath.Join(s.path, "ballast"), make([]byte, 1<<20), publicFile); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if got := listed(t, s, statfs); got != want {
		t.Errorf("listed are\n%s\nwithout an index\n%s", got, want)
	}
	if entries := tree(t, filepath.Join(s.path, privateDir)); slices.Contains(entries, indexFileName) || len(temporariesIn(t, s)) > 0 {
		t.Errorf("in the folder are %q", entries)
	}
}
