package submodule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

const (
	// storeFolder is the store's name in State. No environment has such an id.
	storeFolder = "submodules.git"
	storeRefs   = "refs/submodules/"
)

// Dir returns the repository of the store.
func (s *Store) Dir() string { return filepath.Join(s.State, storeFolder) }

// locate returns the tree of a submodule and the folder of its objects. It returns neither if they may be fetched.
func (s *Store) locate(ctx context.Context, m module) (tree, objects string, err error) {
	if tree := s.stored(m.Commit); tree != "" {
		return tree, filepath.Join(s.Dir(), "objects"), nil
	}
	for _, dir := range s.Repo.SubmoduleObjects(m.chain...) {
		if tree, err := s.Repo.TreeIn(ctx, dir, m.Commit); err == nil || ctx.Err() != nil {
			return tree, dir, err
		}
	}
	_, err = s.mayFetch(m)
	return "", "", err
}

// obtaining brings submodules into the store for one environment.
type obtaining struct {
	*Store
	scratch, tag string
}

// obtain brings a submodule into the store, from this checkout if git has it there.
func (o *obtaining) obtain(ctx context.Context, m module) (tree, objects string, err error) {
	objects = filepath.Join(o.Dir(), "objects")
	if tree := o.stored(m.Commit); tree != "" {
		return tree, objects, nil
	}
	if err := o.makeStore(m.Commit); err != nil {
		return "", "", err
	}
	var spoiled error
	for _, dir := range o.Repo.SubmoduleObjects(m.chain...) {
		if tree, err = o.takeIn(ctx, m, dir); err == nil || ctx.Err() != nil {
			return tree, objects, err
		}
		if !errors.Is(err, git.ErrNotFound) {
			spoiled = err
		}
	}
	tree, err = o.fetch(ctx, m)
	if missing := (*environment.SubmoduleError)(nil); errors.As(err, &missing) && spoiled != nil {
		missing.Problems = append(missing.Problems, redact.Line(fmt.Sprintf("submodule %q: its objects in this checkout are incomplete: %v", m.path, spoiled), 500))
	}
	return tree, objects, err
}

// takeIn copies a submodule's objects from a folder of objects into the store. The ref comes last.
func (o *obtaining) takeIn(ctx context.Context, m module, from string) (tree string, err error) {
	if tree, err = o.Repo.TreeIn(ctx, from, m.Commit); err != nil {
		return "", err
	}
	if err := o.Repo.CopyTree(ctx, from, tree, o.Dir()); err != nil {
		return "", err
	}
	_, err = o.Git.Run(ctx, process.Command{Args: []string{"update-ref", storeRefs + m.Commit, tree}, Env: []string{"GIT_DIR=" + o.Dir(), o.tag}})
	if err != nil {
		return "", fmt.Errorf("note submodule %s: %w", m.Commit, err)
	}
	return tree, nil
}

// stored returns the tree of a submodule's commit in the store, empty if it isn't there.
func (s *Store) stored(commit string) string {
	text, err := os.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(storeRefs+commit)))
	if tree := strings.TrimSpace(string(text)); err == nil && git.ValidID(tree) {
		return tree
	}
	return ""
}

// makeStore makes the store if there is none, for objects with ids like commit.
func (s *Store) makeStore(commit string) error {
	if folder.Is(s.Dir()) {
		return nil
	}
	fresh, err := os.MkdirTemp(s.State, ".new-submodules-")
	if err == nil {
		err = plumbing.MakeRepository(fresh, "main", commit, true, git.Identity{})
	}
	if err == nil {
		err = os.Rename(fresh, s.Dir())
	}
	if err == nil || errors.Is(err, fs.ErrExist) || folder.Is(s.Dir()) { // or another process was first
		return folder.Remove(fresh)
	}
	return fmt.Errorf("make store of submodules: %w", err)
}
