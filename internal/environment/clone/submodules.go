package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/redact"
)

// Files of submodules are put into the work folder without a .git, so git inside takes each for a submodule that nobody
// initialized: nothing of its configuration is ever read, and an edit there cannot become part of a change. A file there
// that the submodule does not track is like one that the project ignores. All come from one store, whose objects are
// checked when they enter it: from the user's own checkout, or else from the submodule's address.

// placed is where the files of a submodule lie in a work folder, and the tree that they are of.
type placed struct {
	Path string `json:"path"`
	Tree string `json:"tree"`
}

// module is a submodule of a commit, or of a submodule.
type module struct {
	git.Submodule
	chain []git.Submodule // those it lies in, the outermost first, and itself
	path  string          // in the work folder
	from  string          // the address that a relative one begins from
}

const (
	// storeFolder holds what was found of submodules, for all environments of the project. No environment has such an id.
	storeFolder = "submodules.git"
	storeRefs   = "refs/submodules/"
	// maxDeep and maxPlaced are some ten times what the largest projects have.
	maxDeep, maxPlaced = 10, 500
)

func (d *Driver) store() string { return filepath.Join(d.config.State, storeFolder) }

// submodules are those whose files belong into the work folder at commit, each after the one it lies in. What they
// consist of is in the store then.
func (e *Environment) submodules(ctx context.Context, commit string) ([]placed, error) {
	d := e.driver
	if found, ok := d.known.Load(commit); ok {
		return found.([]placed), nil
	}
	err := d.config.Repo.Complete(ctx, commit)
	if err != nil {
		return nil, err
	}
	found, err := d.findSubmodules(ctx, commit, e.obtain)
	if err == nil {
		d.known.Store(commit, found)
	}
	return found, err
}

// Submodules makes sure that the environment can be brought to commit: an *environment.SubmoduleError says why not.
func (e *Environment) Submodules(ctx context.Context, commit string) error {
	_, err := e.submodules(ctx, commit)
	return err
}

// CheckSubmodules says what is known, without fetching or writing anything, to keep an environment from having the
// submodules of commit, as an *environment.SubmoduleError.
func (d *Driver) CheckSubmodules(ctx context.Context, commit string) error {
	if remote, err := d.config.Repo.Promisor(ctx); err != nil || remote != "" { // what a partial clone lacks, Make fetches first
		return err
	}
	_, err := d.findSubmodules(ctx, commit, d.locate)
	return err
}

// found is one search. Problems are collected, so that a person hears of all at once.
type found struct {
	driver *Driver
	// get finds a submodule's tree and the objects that it consists of; none where that is not known yet.
	get      func(context.Context, module) (tree, objects string, err error)
	placed   []placed
	problems environment.SubmoduleError
}

func (d *Driver) findSubmodules(ctx context.Context, commit string, get func(context.Context, module) (tree, objects string, err error)) ([]placed, error) {
	if d.config.WithoutSubmodules {
		return nil, nil
	}
	f := &found{driver: d, get: get}
	if err := f.below(ctx, commit, "", module{}); err != nil {
		return nil, fmt.Errorf("find submodules of %s: %w", commit, err)
	}
	if len(f.problems.Problems) > 0 {
		return nil, &f.problems
	}
	return f.placed, nil
}

// below finds the submodules that a tree names, and those in them.
func (f *found) below(ctx context.Context, tree, objects string, parent module) error {
	var folders []string
	if objects != "" {
		folders = []string{objects}
	}
	repo := f.driver.config.Repo
	list, err := repo.Submodules(ctx, tree, folders...)
	if errors.Is(err, git.ErrInvalid) {
		f.add(&environment.SubmoduleError{Problems: []string{err.Error()}})
		return nil
	}
	if err != nil || len(list) == 0 {
		return err
	}
	if len(parent.chain) == 0 {
		if parent.from, err = repo.OriginURL(ctx); err != nil {
			return err
		}
	}
	for _, s := range list {
		m := module{Submodule: s, path: path.Join(parent.path, s.Path), chain: append(parent.chain[:len(parent.chain):len(parent.chain)], s), from: parent.from}
		if len(m.chain) > maxDeep || len(f.placed) >= maxPlaced {
			f.add(m.problem("there are more than %d submodules, or more than %d in one another", maxPlaced, maxDeep))
			return nil
		}
		if err := f.one(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (f *found) one(ctx context.Context, m module) error {
	tree, objects, err := f.get(ctx, m)
	if problem := (*environment.SubmoduleError)(nil); errors.As(err, &problem) {
		f.add(problem)
		return nil
	}
	if err != nil || tree == "" {
		return err
	}
	f.placed = append(f.placed, placed{Path: m.path, Tree: tree})
	if address, err := git.SubmoduleURL(m.from, m.URL); err == nil {
		m.from = address
	}
	return f.below(ctx, tree, objects, m)
}

func (f *found) add(p *environment.SubmoduleError) {
	f.problems.Problems = append(f.problems.Problems, p.Problems...)
	f.problems.Hosts = append(f.problems.Hosts, p.Hosts...)
	f.problems.Closed = f.problems.Closed || p.Closed
	f.problems.Passing = p.Passing && (f.problems.Passing || len(f.problems.Problems) == len(p.Problems))
}

// problem says why the commit of a submodule cannot be had.
func (m module) problem(why string, args ...any) *environment.SubmoduleError {
	return &environment.SubmoduleError{Problems: []string{redact.Line(fmt.Sprintf("submodule %q: commit %.12s is not in this checkout, and ", m.path, m.Commit)+
		fmt.Sprintf(why, args...), 500)}}
}

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
