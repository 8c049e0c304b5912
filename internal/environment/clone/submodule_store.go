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
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

const (
	// storeFolder holds what was found of submodules, for all environments of the project. No environment has such an id.
	storeFolder = "submodules.git"
	storeRefs   = "refs/submodules/"
)

func (d *Driver) store() string { return filepath.Join(d.config.State, storeFolder) }

// locate is where the objects of a submodule are now. Where they are not here but may be fetched there is no answer.
func (d *Driver) locate(ctx context.Context, m module) (tree, objects string, err error) {
	if tree := d.stored(m.Commit); tree != "" {
		return tree, filepath.Join(d.store(), "objects"), nil
	}
	for _, dir := range d.config.Repo.SubmoduleObjects(m.chain...) {
		if tree, err := d.config.Repo.TreeIn(ctx, dir, m.Commit); err == nil || ctx.Err() != nil {
			return tree, dir, err
		}
	}
	_, err = d.mayFetch(m)
	return "", "", err
}

// obtain brings a submodule into the store, from this checkout where git has it there.
func (e *Environment) obtain(ctx context.Context, m module) (tree, objects string, err error) {
	d := e.driver
	objects = filepath.Join(d.store(), "objects")
	if tree := d.stored(m.Commit); tree != "" {
		return tree, objects, nil
	}
	if err := d.makeStore(m.Commit); err != nil {
		return "", "", err
	}
	var spoiled error
	for _, dir := range d.config.Repo.SubmoduleObjects(m.chain...) {
		if tree, err = e.takeIn(ctx, m, dir); err == nil || ctx.Err() != nil {
			return tree, objects, err
		}
		if !errors.Is(err, git.ErrNotFound) {
			spoiled = err
		}
	}
	tree, err = e.fetch(ctx, m)
	if missing := (*environment.SubmoduleError)(nil); errors.As(err, &missing) && spoiled != nil {
		missing.Problems = append(missing.Problems, redact.Line(fmt.Sprintf("submodule %q: what this checkout has of it is not whole: %v", m.path, spoiled), 500))
	}
	return tree, objects, err
}

// takeIn copies what a submodule consists of from a folder of objects into the store. The ref comes last.
func (e *Environment) takeIn(ctx context.Context, m module, from string) (tree string, err error) {
	d := e.driver
	if tree, err = d.config.Repo.TreeIn(ctx, from, m.Commit); err != nil {
		return "", err
	}
	if err := d.config.Repo.CopyTree(ctx, from, tree, d.store()); err != nil {
		return "", err
	}
	_, err = d.git(ctx, process.Command{Args: []string{"update-ref", storeRefs + m.Commit, tree}, Env: []string{"GIT_DIR=" + d.store(), e.layout.tag()}})
	if err != nil {
		return "", fmt.Errorf("note submodule %s: %w", m.Commit, err)
	}
	return tree, nil
}

// stored is the tree of a submodule's commit that is in the store; empty if it is not.
func (d *Driver) stored(commit string) string {
	text, err := os.ReadFile(filepath.Join(d.store(), filepath.FromSlash(storeRefs+commit)))
	if tree := strings.TrimSpace(string(text)); err == nil && git.ValidID(tree) {
		return tree
	}
	return ""
}

// makeStore makes the store where there is none, for objects like commit.
func (d *Driver) makeStore(commit string) error {
	if isFolder(d.store()) {
		return nil
	}
	fresh, err := os.MkdirTemp(d.config.State, ".new-submodules-")
	if err == nil {
		err = makeRepository(fresh, "main", commit, true, git.Identity{})
	}
	if err == nil {
		err = os.Rename(fresh, d.store())
	}
	if err == nil || errors.Is(err, fs.ErrExist) || isFolder(d.store()) { // or another process was first
		return removeTree(fresh)
	}
	return fmt.Errorf("make store of submodules: %w", err)
}
