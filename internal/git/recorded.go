package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
)

// recordedIn lists where a commit's files can be: HEAD, the index with the stages of a conflict, and the
// commits of an unfinished merge, pick, revert or rebase.
var recordedIn = []string{"HEAD", ":0", ":1", ":2", ":3", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"}

// Recorded reports whether git has recorded a file of the work tree, or may have: below a link or a submodule, or under a name that
// only a case-insensitive file system takes for it. It runs no program that the repository names, and fetches nothing for a partial
// clone.
func (r *Repo) Recorded(ctx context.Context, path string) (bool, error) {
	if plain, err := r.isPlain(path); !plain || err != nil {
		return true, err
	}
	var names strings.Builder
	for _, place := range recordedIn {
		names.WriteString(place + ":" + path + "\n")
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"cat-file", "--batch-check"}, Input: names.String(), Dir: r.git.Root,
		Env: []string{"GIT_NO_LAZY_FETCH=1"}, Limit: 20 * time.Second}) // a person waits for it at a prompt
	if err != nil {
		return true, fmt.Errorf("look for %q in what is recorded: %w", path, err)
	}
	return strings.Count(string(out), " missing\n") < len(recordedIn), nil
}

// isPlain reports whether git would record a file of the work tree under its own path. A missing file is plain.
func (r *Repo) isPlain(path string) (bool, error) {
	at := r.git.Root
	for part := range strings.SplitSeq(path, "/") {
		entries, err := os.ReadDir(at)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("look at %q: %w", path, err)
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		named := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == part })
		if err != nil || !named || !info.IsDir() && !info.Mode().IsRegular() {
			return false, nil //nolint:nilerr // what can't be looked at isn't plain
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return false, nil
		}
	}
	return true, nil
}
