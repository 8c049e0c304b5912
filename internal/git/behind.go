package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// behindLimit is how many commits back isBehind looks. A run's change is a few commits on top of its base.
	behindLimit = 32
	// commitHead holds the tree and parents of any commit but one that merges hundreds, in bytes.
	commitHead = 4 << 10
)

// isBehind reports that ancestor is commit, or a parent of it or of a commit in its recent history without merges.
// Where it reports false git has to be asked.
func (r *Repo) isBehind(ctx context.Context, ancestor, commit string) bool {
	for _, cut := range []string{"shallow", "info/grafts"} { // git's idea of a parent differs from the commit's
		if _, err := os.Lstat(filepath.Join(r.git.GitDir, cut)); !os.IsNotExist(err) {
			return false
		}
	}
	for range behindLimit {
		parents, err := r.parents(ctx, commit)
		if err != nil {
			return false
		}
		if commit == ancestor {
			return true
		}
		if len(parents) != 1 {
			return slices.Contains(parents, ancestor)
		}
		commit = parents[0]
	}
	return false
}

// parents reads the parents that a commit names.
func (r *Repo) parents(ctx context.Context, commit string) (ids []string, err error) {
	if err := checkIDs(commit); err != nil {
		return nil, err
	}
	head, err := r.beginning(ctx, "commit", commit, commitHead)
	for line := range strings.Lines(string(head)) {
		id, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "parent ")
		if ok && ValidID(id) {
			ids = append(ids, id)
		} else if !strings.HasPrefix(line, "tree ") {
			break
		}
	}
	return ids, err
}
