package git_test

import (
	"errors"
	"testing"

	"signalbox/internal/git"
)

func TestFetchBringsACommitAndMovesNoBranch(t *testing.T) {
	t.Parallel()
	p, remote, first := published(t)
	p.git("push", "-q", "origin", "HEAD:refs/heads/main")
	other := project{t: t, dir: t.TempDir()}
	other.git("clone", "-q", "--branch", "main", remote.dir, ".")
	second := other.commit("second")
	other.git("push", "-q", "origin", "HEAD:refs/heads/main")
	repo := p.open()
	for range 2 {
		if id, err := repo.Fetch(t.Context(), "origin", "refs/heads/main"); err != nil || id != second {
			t.Fatalf("fetched %s, %v; want %s", id, err, second)
		}
	}
	if at := p.git("rev-parse", "HEAD"); at != first {
		t.Errorf("the branch moved to %s", at)
	}
	if _, err := repo.Resolve(t.Context(), second); err != nil {
		t.Errorf("the commit is missing: %v", err)
	}
	if _, err := repo.Fetch(t.Context(), "origin", "refs/heads/none"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("fetching what is not there: %v", err)
	}
}
