package clone

import (
	"context"
	"errors"
	"fmt"
	"path"

	"signalbox/internal/environment"
	"signalbox/internal/git"
	"signalbox/internal/redact"
)

// Files of submodules are put into the work folder without a .git, so git inside takes each for an uninitialized
// submodule: nothing of its configuration is ever read, and an edit there cannot become part of a change. A file there
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

// maxDeep and maxPlaced are some ten times what the largest projects have.
const maxDeep, maxPlaced = 10, 500

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
