package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/git"
	"signalbox/internal/process"
)

// Make implements environment.Driver. A clone whose folder was deleted is built again at the
// commit that was last recorded in it.
func (d *Driver) Make(ctx context.Context, s environment.Spec) (environment.Environment, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	e := &Environment{driver: d, spec: s, layout: d.layout(s)}
	if err := e.make(ctx); err != nil {
		return nil, fmt.Errorf("make environment %s: %w", s.ID, err)
	}
	return e, nil
}

func (e *Environment) make(ctx context.Context) error {
	if err := e.prepareFolders(ctx); err != nil {
		return err
	}
	m, err := e.layout.load()
	if err != nil {
		return err
	}
	there, err := findFolder(e.layout.work)
	switch {
	case err != nil:
		return err
	case m == nil && there:
		return fmt.Errorf("%s: %w: move it away", e.layout.work, ErrOccupied)
	case m == nil:
		m = &made{Spec: e.spec, Head: e.spec.Commit}
		if borrowed, err := e.borrow(ctx, m); err != nil || borrowed {
			return err
		}
		return e.settle(ctx, m)
	}
	wanted := e.spec
	wanted.Image = m.Spec.Image // this driver has none
	switch {
	case m.Spec != wanted:
		return &environment.OtherSpecError{Made: m.Spec}
	case m.Keeping != "":
		return e.goOnKeeping(ctx, m)
	}
	return e.settle(ctx, m)
}

// prepareFolders makes the folders around the clone and removes what a crash left half-made.
// .worktrees may come from a stranger's commit, so it must be a folder and not a link.
func (e *Environment) prepareFolders(ctx context.Context) error {
	if err := os.Mkdir(e.layout.trees(), 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make folder for clones: %w", err)
	}
	if _, err := findFolder(e.layout.trees()); err != nil {
		return err
	}
	for _, dir := range []string{e.layout.home(), e.layout.index(), e.layout.scratch()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make private folder: %w", err)
		}
	}
	if folder.Is(e.layout.fresh()) { // what a git that was killed has started may still write there
		if _, err := process.SweepOrphans(ctx, e.layout.tag()); err != nil {
			return fmt.Errorf("end what was building the clone: %w", err)
		}
	}
	return e.layout.removeLeftovers()
}

// build makes a complete clone at m.Head beside the place where it will stand and moves it there.
func (e *Environment) build(ctx context.Context, m *made) error {
	if err := folder.Remove(e.layout.treeLayer().Path); err != nil { // of a retirement that was cut off
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
	if err := e.makeImportGit(ctx, m, included); err != nil {
		return err
	}
	if err := e.checkOut(ctx, m); err != nil {
		return err
	}
	if err := e.bring(ctx, m, e.layout.fresh()); err != nil {
		return err
	}
	if err := e.addKept(ctx, m, e.layout.fresh()); err != nil {
		return err
	}
	if err := errors.Join(e.beginSubmodules(m), e.place(ctx, m, e.layout.fresh(), submodules)); err != nil {
		return err
	}
	e.noteGitOf(e.layout.fresh(), m.Head)
	if err := errors.Join(e.seedIndex(), e.noteUntouched()); err != nil {
		return err
	}
	if err := e.layout.save(m); err != nil {
		return err
	}
	if err := os.Rename(e.layout.fresh(), e.layout.work); err != nil {
		return fmt.Errorf("move the clone into place: %w", err)
	}
	return cache.SyncFolder(e.layout.trees())
}

// makeImportGit makes the repository through which work comes back. It borrows the project's objects and
// ignores what the project's checkout ignores, what was copied into the clone and what was adopted.
func (e *Environment) makeImportGit(ctx context.Context, m *made, included []string) error {
	dir := e.layout.importGit()
	if err := folder.Remove(dir); err != nil {
		return fmt.Errorf("remove old import repository: %w", err)
	}
	if err := plumbing.MakeRepository(dir, "import", e.spec.Commit, true, git.Identity{}); err != nil {
		return fmt.Errorf("make import repository: %w", err)
	}
	objects := e.driver.config.Repo.ObjectsDir()
	if strings.Contains(objects, "\n") { // a line of info/alternates, in C's manner where the path itself has several lines
		objects = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(objects) + `"`
	}
	if err := cache.ReplaceFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n")); err != nil {
		return fmt.Errorf("borrow the project's objects: %w", err)
	}
	return e.excludeAdopted(m, included)
}

// excludeAdopted lets the import repository ignore what was copied and what was adopted.
func (e *Environment) excludeAdopted(m *made, included []string) error {
	adopted, err := e.adopted(m)
	if err != nil {
		return err
	}
	m.Adopted = adopted
	return e.writeExcludes(slices.Concat(included, adopted))
}

// seedIndex starts Record's index as a copy of the fresh clone's, whose file times it shares.
func (e *Environment) seedIndex() error {
	data, err := os.ReadFile(filepath.Join(e.layout.fresh(), ".git", "index"))
	if err != nil {
		return fmt.Errorf("read the new clone's index: %w", err)
	}
	if err := cache.ReplaceFile(filepath.Join(e.layout.index(), "index"), data); err != nil {
		return fmt.Errorf("seed the index: %w", err)
	}
	return nil
}

// Attach implements environment.Driver.
func (d *Driver) Attach(_ context.Context, s environment.Spec) (environment.Environment, error) {
	if err := Validate(s); err != nil {
		return nil, err
	}
	e := &Environment{driver: d, spec: s, layout: d.layout(s)}
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
	e.stands(m)
	return e, nil
}
