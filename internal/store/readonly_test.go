package store

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"signalbox/internal/engine"
	"signalbox/internal/health"
	"signalbox/internal/registry"
)

func TestReadOnlyStoreReadsAndLeavesTheFolderAsItIs(t *testing.T) {
	t.Parallel()
	written := openStore(t)
	if err := written.IssueStatus(42).Update(t.Context(), func(s *registry.IssueStatus) error {
		s.Status = registry.IssueRunning
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(written.path + "/.signalbox"); err != nil {
		t.Fatal(err)
	}
	before := tree(t, written.path)
	s, err := Open(t.Context(), Config{Root: written.path, ReadOnly: true, statfs: func(_ string, st *unix.Statfs_t) error {
		*st = unix.Statfs_t{Flags: unix.ST_RDONLY, Type: unix.NFS_SUPER_MAGIC}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if status, err := s.IssueStatus(42).Load(t.Context()); err != nil || status.Status != registry.IssueRunning {
		t.Errorf("read %+v, %v", status, err)
	}
	if holders, err := s.Holders(t.Context()); err != nil || len(holders) > 0 {
		t.Errorf("holders are %v, %v", holders, err)
	}
	for name, change := range map[string]func() error{
		"update": func() error {
			return s.IssueStatus(43).Update(t.Context(), func(*registry.IssueStatus) error { return nil })
		},
		"health": func() error { return s.Health().Update(t.Context(), func(*health.State) error { return nil }) },
		"remove": func() error { return s.IssueStatus(42).Remove(t.Context()) },
		"lock":   func() error { _, err := s.LockRequest(t.Context(), "RQ-1", engine.Owner{Name: "test"}); return err },
	} {
		if err := change(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", name, err)
		}
	}
	if after := tree(t, written.path); !slices.Equal(before, after) {
		t.Errorf("the folder was %q and is %q", before, after)
	}
}

func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	if err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return paths
}
