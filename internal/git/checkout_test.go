package git_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSyncCheckoutBringsFilesAndIndex(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	repo := m.open()
	if err := repo.CheckCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if m.status() == "" {
		t.Fatal("the check changed the checkout")
	}
	for range 2 {
		if err := repo.SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
			t.Fatal(err)
		}
		m.assertNew(t)
	}
}

func TestSyncCheckoutWorksBeforeTheBranchMoves(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.git("update-ref", mainRef, m.old)
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.git("update-ref", mainRef, m.id)
	m.assertNew(t)
}

func TestSyncCheckoutReplacesEmptyFolders(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	if err := os.MkdirAll(filepath.Join(m.dir, "folder-to-file", "empty", "too"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	m.assertNew(t)
}

func TestSyncCheckoutKeepsUnrelatedWork(t *testing.T) {
	t.Parallel()
	m := newMerged(t)
	m.write("untouched", "edited\n")
	m.write("staged", "staged\n")
	m.git("add", "staged")
	m.write("untracked", "untracked\n")
	if err := m.open().SyncCheckout(t.Context(), mainRef, m.old, m.id); err != nil {
		t.Fatal(err)
	}
	if got := m.git("status", "--porcelain"); got != "A  staged\n M untouched\n?? untracked" {
		t.Errorf("status:\n%s", got)
	}
}
