package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// checkOut makes the fresh clone at m.Head. A base from which that is not possible is left aside.
func (e *Environment) checkOut(ctx context.Context, m *made) error {
	base, err := e.ancestor(ctx, m)
	if err != nil {
		return err
	}
	err = e.checkOutFrom(ctx, base, m.Head)
	if err == nil || base == nil || ctx.Err() != nil {
		return err
	}
	if err := folder.Remove(e.layout.fresh()); err != nil {
		return err
	}
	return e.checkOutFrom(ctx, nil, m.Head)
}

func (e *Environment) checkOutFrom(ctx context.Context, base *cache.Entry, commit string) error {
	if err := e.initialize(ctx, base, commit); err != nil {
		return err
	}
	if _, err := e.inFresh(ctx, "reset", "--hard", "--quiet", commit); err != nil {
		return fmt.Errorf("check out %s: %w", commit, err)
	}
	return nil
}

// initialize makes the fresh clone's .git: the history of commit as real objects of its own,
// beginning with a base's if one is named, the branch, no remote, no hook and no tag. Nothing
// is checked out yet.
func (e *Environment) initialize(ctx context.Context, base *cache.Entry, commit string) error {
	who, err := e.driver.user(ctx)
	if err != nil {
		return err
	}
	if err := plumbing.MakeRepository(filepath.Join(e.layout.fresh(), ".git"), e.spec.Branch, commit, false, who.Author); err != nil {
		return err
	}
	known := ""
	if base != nil {
		inherited, err := e.inherit(ctx, base)
		if err != nil {
			return err
		}
		if inherited {
			known = base.Commit
		}
	}
	if err := e.copyHistory(ctx, commit, known); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(e.layout.importGit(), "info", "exclude")) // the clone ignores the same
	if err != nil {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	return writeExclude(filepath.Join(e.layout.fresh(), ".git"), text)
}

func (e *Environment) inFresh(ctx context.Context, args ...string) (string, error) {
	fresh := e.layout.fresh()
	return e.driver.git.Run(ctx, process.Command{Fresh: true, Args: args, Dir: fresh, Env: []string{
		"GIT_DIR=" + filepath.Join(fresh, ".git"), "GIT_WORK_TREE=" + fresh, e.layout.tag(),
	}})
}

// ancestor is the base whose history the environment's is made from, nil if there is none: the
// one it stands on, else that which was used last. It is nearer to any commit than nothing.
func (e *Environment) ancestor(ctx context.Context, m *made) (*cache.Entry, error) {
	if e.way(ctx) == Off || !folder.Is(e.driver.bases.Dir) {
		return nil, nil
	}
	unlock, err := e.driver.bases.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.driver.bases.Find(func(b *cache.Entry) bool {
		return b.Version == baseVersion && (m.Warm == nil || m.Warm.Base == b.ID) && e.continues(ctx, b, m.Head)
	})
}

// continues reports whether the project still has what a base was made of, in the format of commit.
func (e *Environment) continues(ctx context.Context, base *cache.Entry, commit string) bool {
	_, err := e.driver.config.Repo.TreeOf(ctx, base.Commit)
	return err == nil && len(base.Commit) == len(commit)
}

// inherit gives the fresh clone the history of a base, which was counted and checked when the base
// was made. It is copied: what is done to the objects of a clone reaches no other. It reports false
// where the base's history is no whole one.
func (e *Environment) inherit(ctx context.Context, base *cache.Entry) (bool, error) {
	const objects = ".git/objects"
	source := filepath.Join(e.driver.bases.Path(base.ID), treeFolder)
	if _, err := os.Lstat(filepath.Join(source, ".git", "shallow")); err == nil {
		return false, nil // its history ends where the project's did then
	}
	if err := folder.Copy(ctx, filepath.Join(source, objects), filepath.Join(e.layout.fresh(), objects), nil); err != nil {
		return false, fmt.Errorf("copy the base's history: %w", err)
	}
	// Who deletes a base renames it first: one that is still there was there while it was copied.
	if whole, err := e.driver.bases.Published(base.ID); err != nil || !whole {
		return false, errors.Join(err, errNoBase)
	}
	return true, nil
}

// copyHistory brings the objects of commit, but for those of known, from the project into the
// fresh clone and points its branch there. No delta is looked for between objects that are not stored
// as such: on one disk that takes far longer than it saves.
func (e *Environment) copyHistory(ctx context.Context, commit, known string) error {
	if err := e.driver.config.Repo.Complete(ctx, commit); err != nil {
		return err
	}
	gitDir := filepath.Join(e.layout.fresh(), ".git")
	// The project may be shallow itself: its history then ends in the clone where it ends there.
	shallow, err := os.ReadFile(filepath.Join(e.driver.config.Repo.GitDir(), "shallow"))
	if err == nil {
		err = os.WriteFile(filepath.Join(gitDir, "shallow"), shallow, 0o666)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copy where the history ends: %w", err)
	}
	wanted := commit + "\n"
	if known != "" {
		wanted += "^" + known + "\n"
	}
	// The pack and its index are written where they belong; what is asked of the project is read through an alternate.
	repo, objects := e.driver.config.Repo, filepath.Join(gitDir, "objects")
	_, err = e.driver.git.Run(ctx, process.Command{
		Args:  []string{"pack-objects", "--revs", "--non-empty", "-q", "--window=0", "--delta-base-offset", filepath.Join(objects, "pack", "pack")},
		Stdin: strings.NewReader(wanted), Env: []string{"GIT_DIR=" + repo.GitDir(), "GIT_OBJECT_DIRECTORY=" + objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Listed(repo.ObjectsDir()), e.layout.tag()}})
	if err != nil {
		return fmt.Errorf("copy history: %w", err)
	}
	ref := filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(e.spec.Branch))
	if err := os.MkdirAll(filepath.Dir(ref), 0o777); err != nil {
		return fmt.Errorf("make branch: %w", err)
	}
	return os.WriteFile(ref, []byte(commit+"\n"), 0o666)
}
