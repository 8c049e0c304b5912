package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// UnfinishedError: a person is in the middle of a git command in a work tree of a branch. Moving the
// branch would disturb it.
type UnfinishedError struct {
	// Dir is the work tree, What the unfinished git command: merge, rebase, am, cherry-pick, revert or commit.
	Dir, What string
	// Lock is the file that the command holds; only a commit holds one, or whatever else writes the index.
	Lock string
}

func (e *UnfinishedError) Error() string {
	if e.Lock != "" {
		return fmt.Sprintf("a git command is at work in %s and holds %s", e.Dir, e.Lock)
	}
	return fmt.Sprintf("a git %s is half done in %s", e.What, e.Dir)
}

// Unfinished returns an *UnfinishedError if a merge, a rebase or the like is half done in a work tree
// that has the branch checked out, or whose rebase will move it. A bisection moves no branch.
func (r *Repo) Unfinished(ctx context.Context, branchRef string) error {
	places, err := r.worktrees(ctx)
	if err != nil {
		return err
	}
	for _, place := range places {
		dir, err := gitDirOf(place.dir)
		if err != nil {
			return err
		}
		if what := halfDone(dir, branchRef, place.branch); what != "" {
			return &UnfinishedError{Dir: place.dir, What: what}
		}
	}
	return nil
}

// gitDirOf returns git's folder of a work tree.
func gitDirOf(tree string) (string, error) {
	dir := filepath.Join(tree, ".git")
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() { // the file names the folder
		var text []byte
		text, err = os.ReadFile(dir)
		named := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
		if dir = named; !filepath.IsAbs(named) {
			dir = filepath.Join(tree, named)
		}
	}
	if err != nil {
		return "", fmt.Errorf("find git's folder of %s: %w", tree, err)
	}
	return dir, nil
}

// halfDone returns the unfinished command of a work tree that concerns the branch; empty if there is none.
func halfDone(dir, branchRef, checkedOut string) string {
	for _, folder := range []string{"rebase-merge", "rebase-apply"} {
		switch moves, err := os.ReadFile(filepath.Join(dir, folder, "head-name")); {
		case err == nil && strings.TrimSpace(string(moves)) == branchRef:
			return "rebase"
		case err != nil && checkedOut == branchRef && isThere(filepath.Join(dir, folder)):
			return "am"
		}
	}
	if checkedOut != branchRef {
		return ""
	}
	for _, c := range []struct{ file, what string }{{"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}} {
		if isThere(filepath.Join(dir, c.file)) {
			return c.what
		}
	}
	return ""
}
