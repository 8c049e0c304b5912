package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// ErrCheckout: local changes in a checkout are in the way. The error is a *CheckoutError.
var ErrCheckout = errors.New("local changes are in the way")

// CheckoutError names the files that a person must commit, move or delete.
type CheckoutError struct {
	// Dir is the checkout. Paths are the files in it that have neither the old nor the new content.
	Dir   string
	Paths []string
}

// maxNamed is how many files an error lists.
const maxNamed = 10

func (e *CheckoutError) Error() string {
	var names []string
	for _, path := range e.Paths[:min(len(e.Paths), maxNamed)] {
		names = append(names, fmt.Sprintf("%q", path))
	}
	if more := len(e.Paths) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s in %s: %s", ErrCheckout.Error(), e.Dir, strings.Join(names, ", "))
}

func (e *CheckoutError) Unwrap() error { return ErrCheckout }

// CheckCheckout tests whether SyncCheckout would succeed, and changes nothing. ErrFilter if a filter fails; *UnfinishedError if a
// git command holds the index: a commit whose message is being written would fail once the branch moved.
func (r *Repo) CheckCheckout(ctx context.Context, branchRef, old, id string) error {
	return r.withCheckouts(ctx, branchRef, old, id, func(c *checkout) error {
		dir, err := gitDirOf(c.dir)
		if err != nil {
			return err
		}
		if lock := filepath.Join(dir, "index.lock"); isThere(lock) { // git waits for it, or removes what a killed one left
			_, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"update-index", "--force-write-index"}, Dir: c.dir, User: true, Limit: gitcmd.Slow})
			if errors.Is(err, ErrLocked) {
				return &UnfinishedError{Dir: c.dir, What: "commit", Lock: lock}
			}
			if err != nil {
				return err
			}
		}
		attributes, others := c.toWrite()
		files := append(attributes, others...)
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
		}
		if !r.mayFilter(c.root, paths) {
			return nil
		}
		// Make the new files and remove them again: a filter that fails must fail before the branch moves.
		if err := c.root.RemoveAll(stageDir); err != nil {
			return err
		}
		return errors.Join(c.writeStaged(ctx, files), c.root.RemoveAll(stageDir))
	})
}

// SyncCheckout moves the files and the index of every work tree that has the branch checked out from
// commit old to commit id. The caller moves the branch itself, before or after. Each file that differs
// between the commits must be in the checkout, and in the index, as one of them has it; otherwise
// nothing changes and the error is ErrCheckout. Every file changes in one rename, so after a kill at
// any instant the same call completes the work. Line endings and filters are the user's, as for any
// checkout. It removes an index.lock that a killed git left if that is older than this process and no
// process holds it; otherwise the error is ErrLocked.
//
// Callers apply every commit in order: a skipped one looks like local changes.
func (r *Repo) SyncCheckout(ctx context.Context, branchRef, old, id string) error {
	return r.withCheckouts(ctx, branchRef, old, id, func(c *checkout) error {
		if err := c.apply(ctx); err != nil {
			return fmt.Errorf("update checkout %s: %w", c.dir, err)
		}
		// A git killed at its very end left a lock that no later command here would meet.
		if lock := filepath.Join(r.git.GitDir, "index.lock"); c.dir == r.git.Root && isThere(lock) {
			r.git.RemoveStaleLock(ctx, lock)
		}
		return nil
	})
}

// withCheckouts calls do for each checkout of the branch, after it has found all of them clear.
func (r *Repo) withCheckouts(ctx context.Context, branchRef, old, id string, do func(*checkout) error) error {
	if err := errors.Join(checkRef(branchRef), checkIDs(old, id)); err != nil {
		return fmt.Errorf("update checkout: %w", err)
	}
	unlock, err := r.git.Hold(ctx, "signalbox-checkout.lock")
	if err != nil {
		return err
	}
	defer unlock()
	found, err := r.checkouts(ctx, branchRef, old, id)
	defer func() {
		for _, c := range found {
			_ = c.root.Close()
		}
	}()
	if err != nil {
		return err
	}
	for _, c := range found {
		if err := c.check(ctx); err != nil {
			return filterFailed(err)
		}
	}
	for _, c := range found {
		if err := do(c); err != nil {
			return filterFailed(err)
		}
	}
	return nil
}

// checkout is one work tree and the changes to make in it.
type checkout struct {
	repo    *Repo
	dir     string
	root    *os.Root
	index   string // the path of a scratch index
	old     string
	changes []Change
	changed map[string]bool // the paths of changes

	// Found by check: the paths whose file differs from the old or the new commit's, and the changes
	// whose index entry is still the old one.
	notOld, notNew map[string]bool
	unstaged       []Change
}

func (r *Repo) checkouts(ctx context.Context, branchRef, old, id string) ([]*checkout, error) {
	places, err := r.worktrees(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := r.compare(ctx, old, id, false)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	changed := make(map[string]bool, len(changes))
	for _, c := range changes {
		changed[c.Path] = true
	}
	var found []*checkout
	for _, place := range places {
		if place.branch != branchRef {
			continue
		}
		root, err := os.OpenRoot(place.dir)
		if err != nil {
			return found, fmt.Errorf("open checkout: %w", err)
		}
		found = append(found, &checkout{repo: r, dir: place.dir, root: root, index: filepath.Join(r.git.GitDir, "signalbox-checkout.index"), old: old, changes: changes, changed: changed})
	}
	return found, nil
}

// linked reports whether Root is not the main work tree.
func (r *Repo) linked() bool {
	link, err := os.ReadFile(filepath.Join(r.git.Root, ".git"))
	return err == nil && strings.Contains(string(link), "/worktrees/")
}

type worktree struct{ dir, branch string }

// worktrees lists the existing work trees, with the branch that each has checked out.
func (r *Repo) worktrees(ctx context.Context) ([]worktree, error) {
	if _, err := os.Lstat(filepath.Join(r.git.GitDir, "worktrees")); errors.Is(err, os.ErrNotExist) {
		if branch, ok := r.readHead(); ok { // Root is the only one
			return []worktree{{dir: r.git.Root, branch: branch}}, nil
		}
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	if err != nil {
		return nil, fmt.Errorf("list work trees: %w", err)
	}
	var places []worktree
	first := true
	for record := range strings.SplitSeq(string(out), "\x00\x00") {
		var place worktree
		usable := record != ""
		for line := range strings.SplitSeq(record, "\x00") {
			word, value, _ := strings.Cut(line, " ")
			switch word {
			case "worktree":
				place.dir = value
			case "branch":
				place.branch = value
			case "bare", "prunable":
				usable = false
			}
		}
		// If .git is a file (a submodule, --separate-git-dir), git names its folder as the main work tree.
		if first && place.dir == r.git.GitDir && !r.linked() {
			place.dir = r.git.Root
		}
		first = false
		if usable {
			places = append(places, place)
		}
	}
	return places, nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
