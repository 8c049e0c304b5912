package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// Make implements environment.Driver. It rebuilds a clone whose folder was deleted at the commit that was last recorded in it.
func (d *Driver) Make(ctx context.Context, s environment.Spec) (result environment.Environment, err error) {
	e, err := d.environment(s)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			result, err = nil, fmt.Errorf("make environment %s: %w", s.ID, err)
		}
	}()
	if err := e.prepareFolders(ctx); err != nil {
		return nil, err
	}
	m, err := e.layout.load()
	if err != nil {
		return nil, err
	}
	there, err := findFolder(e.layout.work)
	switch {
	case err != nil:
		return nil, err
	case m == nil && there:
		return nil, fmt.Errorf("%s: %w: move it away", e.layout.work, ErrOccupied)
	case m == nil:
		m = &made{Spec: e.spec, Head: e.spec.Commit}
		if borrowed, err := e.borrow(ctx, m); err != nil || borrowed {
			return e, err
		}
		return e, e.settle(ctx, m)
	}
	wanted := e.spec
	wanted.Image = m.Spec.Image // this driver has none
	switch {
	case m.Spec != wanted:
		return nil, &environment.OtherSpecError{Made: m.Spec}
	case m.Keeping != "":
		return e, e.finishSnapshot(ctx, m)
	}
	return e, e.settle(ctx, m)
}

// prepareFolders makes the folders around the clone and removes half-made ones that a crash left. .worktrees may come from an
// untrusted commit, so it must be a folder and not a link.
func (e *Environment) prepareFolders(ctx context.Context) error {
	if err := os.Mkdir(e.layout.trees, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make folder for clones: %w", err)
	}
	if _, err := findFolder(e.layout.trees); err != nil {
		return err
	}
	for _, dir := range []string{e.layout.home, e.layout.index, e.layout.scratch} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make private folder: %w", err)
		}
	}
	if folder.Is(e.layout.fresh) { // children of a killed git may still write there
		if _, err := process.SweepOrphans(ctx, e.layout.tag); err != nil {
			return fmt.Errorf("end the processes that were building the clone: %w", err)
		}
	}
	return e.layout.removeLeftovers()
}

// build makes a complete clone at m.Head beside its final place and moves it there.
func (e *Environment) build(ctx context.Context, m *made) error {
	if err := folder.Remove(e.layout.treeLayer.Path); err != nil { // left by a crash in retire
		return err
	}
	submodules, err := e.wanted(ctx, m.Head)
	if err != nil {
		return err
	}
	included, err := e.driver.Included(ctx)
	if err != nil {
		return err
	}
	m.Brought = included
	if err := e.makeImportGit(m, included); err != nil {
		return err
	}
	if err := e.checkOut(ctx, m); err != nil {
		return err
	}
	if err := e.bring(ctx, m, e.layout.fresh); err != nil {
		return err
	}
	if err := e.addKept(ctx, m, e.layout.fresh); err != nil {
		return err
	}
	if err := errors.Join(e.beginSubmodules(m), e.place(ctx, m, e.layout.fresh, submodules)); err != nil {
		return err
	}
	e.noteGit(ctx, e.layout.fresh, m.Head)
	// Record's index starts as a copy of the fresh clone's, whose file times it shares.
	index, err := os.ReadFile(filepath.Join(e.layout.fresh, ".git", "index"))
	if err != nil {
		return fmt.Errorf("read the new clone's index: %w", err)
	}
	if err := cache.ReplaceFile(filepath.Join(e.layout.index, "index"), index); err != nil {
		return fmt.Errorf("seed the index: %w", err)
	}
	if err := e.noteUntouched(); err != nil {
		return err
	}
	if err := e.layout.save(m); err != nil {
		return err
	}
	if err := os.Rename(e.layout.fresh, e.layout.work); err != nil {
		return fmt.Errorf("move the clone into place: %w", err)
	}
	return cache.SyncFolder(e.layout.trees)
}

// makeImportGit makes the repository through which work comes back. It borrows the project's objects and ignores the files that
// the project's checkout ignores, the copied files and the adopted folders.
func (e *Environment) makeImportGit(m *made, included []string) error {
	dir := e.layout.importGit
	if err := folder.Remove(dir); err != nil {
		return fmt.Errorf("remove old import repository: %w", err)
	}
	if err := plumbing.MakeRepository(dir, "import", e.spec.Commit, true, git.Identity{}); err != nil {
		return fmt.Errorf("make import repository: %w", err)
	}
	objects := e.driver.config.Repo.ObjectsDir()
	if strings.Contains(objects, "\n") { // info/alternates has one path per line, quoted as in C if it contains a newline
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(objects) + `"`
	}
	if err := cache.ReplaceFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n")); err != nil {
		return fmt.Errorf("borrow the project's objects: %w", err)
	}
	return e.excludeAdopted(m, included)
}

// Attach implements environment.Driver.
func (d *Driver) Attach(_ context.Context, s environment.Spec) (environment.Environment, error) {
	e, err := d.environment(s)
	if err != nil {
		return nil, err
	}
	m, err := e.layout.load()
	if err != nil {
		return nil, err
	}
	there, err := findFolder(e.layout.work)
	if err == nil && (m == nil || !there) {
		err = fmt.Errorf("environment %s: %w", s.ID, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	e.noteMarker(m)
	return e, nil
}
