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

// checkOut makes the fresh clone at m.Head, if possible with the history of a snapshot.
func (e *Environment) checkOut(ctx context.Context, m *made) error {
	// Start from the snapshot below the environment, or else from the one used last: any history is a better start than none.
	var snapshot *cache.Entry
	if e.way(ctx) != Off && folder.Is(e.driver.snapshots.Dir) {
		unlock, err := e.driver.snapshots.Lock(ctx)
		if err != nil {
			return err
		}
		snapshot, err = e.driver.snapshots.Find(func(s *cache.Entry) bool {
			return (m.Warm == nil || m.Warm.Snapshot == s.ID) && e.continues(ctx, s, m.Head)
		})
		unlock()
		if err != nil {
			return err
		}
	}
	for {
		err := e.initialize(ctx, snapshot, m.Head)
		if err == nil {
			if _, err = e.inFresh(ctx, "reset", "--hard", "--quiet", m.Head); err != nil {
				err = fmt.Errorf("check out %s: %w", m.Head, err)
			}
		}
		if err == nil || snapshot == nil || ctx.Err() != nil {
			return err
		}
		snapshot = nil
		if err := folder.Remove(e.layout.fresh); err != nil {
			return err
		}
	}
}

// initialize makes the fresh clone's .git: real objects of its own with the history of commit, copied from a snapshot as far
// as possible if one is named, and the branch, but no remote, no hook and no tag. Nothing is checked out yet.
func (e *Environment) initialize(ctx context.Context, snapshot *cache.Entry, commit string) error {
	who, err := e.driver.user(ctx)
	if err != nil {
		return err
	}
	if err := plumbing.MakeRepository(filepath.Join(e.layout.fresh, ".git"), e.spec.Branch, commit, false, who.Author); err != nil {
		return err
	}
	known := ""
	if snapshot != nil {
		if known, err = e.inherit(ctx, snapshot); err != nil {
			return err
		}
	}
	if err := e.copyHistory(ctx, commit, known); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(e.layout.importGit, "info", "exclude")) // the clone ignores the same
	if err != nil {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	return writeExclude(filepath.Join(e.layout.fresh, ".git"), text)
}

func (e *Environment) inFresh(ctx context.Context, args ...string) (string, error) {
	fresh := e.layout.fresh
	return e.driver.git.Run(ctx, process.Command{Fresh: true, Args: args, Dir: fresh, Env: []string{
		"GIT_DIR=" + filepath.Join(fresh, ".git"), "GIT_WORK_TREE=" + fresh, e.layout.tag,
	}})
}

// continues reports whether the project still has a snapshot's commit, in the object format of commit.
func (e *Environment) continues(ctx context.Context, snapshot *cache.Entry, commit string) bool {
	_, err := e.driver.config.Repo.TreeOf(ctx, snapshot.Commit)
	return err == nil && len(snapshot.Commit) == len(commit)
}

// inherit gives the fresh clone the history of a snapshot and returns its commit. The objects were checked when the snapshot was
// made. They are copied, so that damage to one clone's objects reaches no other. It returns no commit if the snapshot's history
// is incomplete.
func (e *Environment) inherit(ctx context.Context, snapshot *cache.Entry) (known string, err error) {
	const objects = ".git/objects"
	source := filepath.Join(e.driver.snapshots.Path(snapshot.ID), treeFolder)
	if _, err := os.Lstat(filepath.Join(source, ".git", "shallow")); err == nil {
		return "", nil // its history ends where the project's did then
	}
	if err := folder.Copy(ctx, filepath.Join(source, objects), filepath.Join(e.layout.fresh, objects), nil); err != nil {
		return "", fmt.Errorf("copy the snapshot's history: %w", err)
	}
	// A snapshot is renamed before it is deleted: if it still exists, it was complete while it was copied.
	if whole, err := e.driver.snapshots.Published(snapshot.ID); err != nil || !whole {
		return "", errors.Join(err, errNoSnapshot)
	}
	return snapshot.Commit, nil
}

// copyHistory copies the objects of commit, except those of known, from the project into the fresh clone and points its branch
// there. It looks for no new deltas between objects: on one disk that takes far longer than it saves.
func (e *Environment) copyHistory(ctx context.Context, commit, known string) error {
	if err := e.driver.config.Repo.Complete(ctx, commit); err != nil {
		return err
	}
	gitDir := filepath.Join(e.layout.fresh, ".git")
	// The project may be shallow itself: then its history in the clone ends at the same commits.
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
	// Git writes the pack and its index straight into the clone and reads the project's objects through an alternate.
	repo, objects := e.driver.config.Repo, filepath.Join(gitDir, "objects")
	_, err = e.driver.git.Run(ctx, process.Command{
		Args:  []string{"pack-objects", "--revs", "--non-empty", "-q", "--window=0", "--delta-base-offset", filepath.Join(objects, "pack", "pack")},
		Stdin: strings.NewReader(wanted), Env: []string{"GIT_DIR=" + repo.GitDir(), "GIT_OBJECT_DIRECTORY=" + objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + git.Listed(repo.ObjectsDir()), e.layout.tag}})
	if err != nil {
		return fmt.Errorf("copy history: %w", err)
	}
	ref := filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(e.spec.Branch))
	if err := os.MkdirAll(filepath.Dir(ref), 0o777); err != nil {
		return fmt.Errorf("make branch: %w", err)
	}
	return os.WriteFile(ref, []byte(commit+"\n"), 0o666)
}
