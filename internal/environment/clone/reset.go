package clone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// resetTimeout ends a reset that hangs because of the clone's own configuration.
const resetTimeout = 10 * time.Minute

// resetScript runs inside, on the clone's own repository, which may be in any state: $1 is the commit, $2 the branch. If $3 is
// "pack", standard input is a pack with the objects of the commit. HEAD points at the branch, so the reset moves it. The script
// starts few programs if there is nothing to do.
const resetScript = `set -e
test -d .git
test ! -L .git
test ! -e .git/commondir
find .git -name '*.lock' -type f -delete
for left in rebase-merge rebase-apply sequencer BISECT_LOG; do
	if test -e ".git/$left" || test -L ".git/$left"; then rm -rf ".git/$left"; fi
done
if test "$3" = pack; then git -c core.fsync=none index-pack --stdin >/dev/null; fi
git symbolic-ref HEAD "refs/heads/$2"
git reset --hard --quiet "$1"
git clean -ffdq`

// Reset implements environment.Environment. The clone's own git does the work inside, and we compare the resulting content. If
// that is wrong, we try again with a new .git, which keeps ignored files, and at last rebuild the clone.
func (e *Environment) Reset(ctx context.Context, commit, keepRef string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reset environment %s to %s: %w", e.spec.ID, commit, err)
		}
	}()
	m, err := e.marker()
	if err != nil || e.isSettled(m, commit) {
		return err
	}
	tree, err := e.driver.config.Repo.TreeOf(ctx, commit)
	if err != nil {
		return err
	}
	submodules, err := e.wanted(ctx, commit) // before anything is touched
	if err != nil {
		return err
	}
	if err := e.layout.removeLeftovers(); err != nil {
		return err
	}
	there, err := findFolder(e.layout.work)
	if err != nil {
		return err
	}
	if there && m.Head == commit && e.isAsLeft(ctx, commit) && e.place(ctx, m, e.layout.work, submodules) == nil {
		return nil
	}
	if there && keepRef != "" {
		if err := e.keep(ctx, m, tree, keepRef); err != nil {
			return fmt.Errorf("keep uncommitted work on %s: %w", keepRef, err)
		}
	}
	m.Head = commit
	untouched := e.layout.isUntouched()
	if err := e.layout.touch(); err != nil { // until the content is that of the commit again
		return err
	}
	if there && e.brought(ctx, m, tree) && e.place(ctx, m, e.layout.work, submodules) == nil {
		if err := e.layout.save(m); err != nil || !untouched {
			return err
		}
		return e.noteUntouched()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.rebuild(ctx, m)
}

// keep saves the work folder's content on ref, unless it is that of the last known commit, of tree, or saved there already. The
// earlier content of ref stays in its history.
func (e *Environment) keep(ctx context.Context, m *made, tree, ref string) error {
	repo := e.driver.config.Repo
	found, err := e.tree(ctx, m.Head, listScript)
	if err != nil {
		return err
	}
	before, err := repo.TreeOf(ctx, m.Head)
	if err != nil || found == before || found == tree {
		return err
	}
	parents := []string{m.Head}
	old, err := repo.Resolve(ctx, ref)
	switch {
	case err == nil:
		kept, err := repo.TreeOf(ctx, old)
		if err != nil || kept == found {
			return err
		}
		parents = append(parents, old)
	case !errors.Is(err, git.ErrNotFound):
		return err
	}
	id, err := e.commitTree(ctx, found, "Keep uncommitted work of environment "+e.spec.ID+"\n", parents...)
	if err != nil {
		return err
	}
	if err := e.importCommit(ctx, id, parents...); err != nil {
		return err
	}
	return repo.UpdateRef(ctx, ref, id, old)
}

// brought gives the work folder the content of m.Head without rebuilding the clone, and reports whether it could.
func (e *Environment) brought(ctx context.Context, m *made, tree string) bool {
	if len(m.Adopted) > 0 && e.showExcludes(ctx) != nil { // without it, git clean would delete the adopted folders
		return e.replaceGit(ctx, m) == nil && e.restored(ctx, m.Head, tree)
	}
	return e.restored(ctx, m.Head, tree) || e.replaceGit(ctx, m) == nil && e.restored(ctx, m.Head, tree)
}

// restored resets the clone by its own git and reports whether its content is tree. The reason doesn't matter if it isn't: the
// caller replaces whatever spoiled it.
func (e *Environment) restored(ctx context.Context, commit, tree string) bool {
	pack, err := e.pack(ctx, commit)
	if err != nil {
		return false
	}
	input, brings := io.Reader(strings.NewReader("")), ""
	if pack != nil {
		defer func() { _ = errors.Join(pack.Close(), os.Remove(pack.Name())) }()
		input, brings = pack, "pack"
	}
	_, err = plumbing.Output(ctx, process.Command{
		Args:  []string{"sh", "-c", resetScript, "sh", commit, e.spec.Branch, brings},
		Env:   e.driver.git.Variables("GIT_DIR="+filepath.Join(e.Dir(), ".git"), "GIT_WORK_TREE="+e.Dir()),
		Stdin: input, Total: resetTimeout,
	}, func(ctx context.Context, c process.Command) (process.Result, error) { return e.enter(ctx, c, false) })
	if err != nil {
		return false
	}
	found, err := e.tree(ctx, commit, refreshScript)
	if err != nil || found != tree {
		return false
	}
	e.noteGit(ctx, e.layout.work, commit)
	return true
}

// pack writes the objects of commit that the clone did not have when it was made. It returns nil if there are none.
func (e *Environment) pack(ctx context.Context, commit string) (*os.File, error) {
	known := e.spec.Commit
	m, err := e.marker()
	if err != nil {
		return nil, err
	}
	if m.Warm.isLayered() {
		known = m.Warm.Commit
	}
	if commit == known {
		return nil, nil //nolint:nilnil // it is the answer
	}
	f, err := os.OpenFile(filepath.Join(e.layout.private, "reset.pack"), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("write objects for the clone: %w", err)
	}
	_, err = e.driver.git.Run(ctx, process.Command{
		Args:   []string{"pack-objects", "--revs", "--stdout", "-q"},
		Stdin:  strings.NewReader(commit + "\n^" + known + "\n"),
		Stdout: f,
		Env:    []string{"GIT_DIR=" + e.driver.config.Repo.GitDir()},
	})
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write objects for the clone: %w", err), f.Close())
	}
	return f, nil
}

// replaceGit gives the clone a .git as Make would have made it.
func (e *Environment) replaceGit(ctx context.Context, m *made) error {
	if m.Warm.isLayered() {
		if err := errors.Join(e.driver.letGo(ctx, e.layout), overlay.Unmount(e.layout.work)); err != nil {
			return err
		}
		git := filepath.Join(e.layout.treeLayer.Upper(), ".git")
		if err := errors.Join(folder.Remove(git), e.writeGit(git, m.Warm.Commit)); err != nil {
			return err
		}
		return e.stack(ctx, m)
	}
	if err := e.initialize(ctx, nil, m.Head); err != nil {
		return err
	}
	git := filepath.Join(e.layout.work, ".git")
	if err := folder.Remove(git); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(e.layout.fresh, ".git"), git); err != nil {
		return err
	}
	return e.layout.removeLeftovers()
}

// rebuild deletes the clone and builds another. If it is interrupted there is no folder, and the next Make or Reset builds one.
func (e *Environment) rebuild(ctx context.Context, m *made) error {
	if m.Warm != nil {
		m.Warm.Pending = true
	}
	if err := errors.Join(e.beginSubmodules(m), e.layout.save(m)); err != nil {
		return err
	}
	if err := e.driver.retire(ctx, e.layout); err != nil {
		return err
	}
	return e.settle(ctx, m)
}
