// Package submodule finds the submodules of a commit and keeps what they consist of in one store, where objects are checked when they
// enter it: from the user's own checkout, or else fetched from the submodule's address, inside a sandbox.
package submodule

import (
	"context"
	"errors"
	"fmt"
	"path"
	"sync"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/environment/clone/sandbox"
	"signalbox/internal/environment/egress"
	"signalbox/internal/git"
	"signalbox/internal/redact"
)

// Placed is where the files of a submodule lie in a work folder, and the tree that they are of.
type Placed struct {
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

// Config is what a store needs. Repo, Git and State have no default.
type Config struct {
	// Repo is the project's own, trusted repository.
	Repo *git.Repo
	Git  plumbing.Git
	// State is the folder in which the store lies.
	State string
	// Sandbox is where git fetches; nil means plainly on this machine.
	Sandbox *sandbox.Sandbox
	// ReadOnly are the host paths that git may read, Variables the machine's (KEY=value) of which it gets those for a way out.
	ReadOnly, Variables []string
	// Network is what a fetch reaches: egress.Full (also when empty), egress.Registries, which is the hosts of Egress, or egress.None.
	Network string
	Egress  egress.Policy
}

// Store holds what was found of submodules, for all environments of a project.
type Store struct {
	config Config
	// known are the submodules ([]Placed) of commits, once they are in the store.
	known sync.Map
}

// New returns the store of a project. Nothing is touched before Obtain.
func New(c Config) *Store { return &Store{config: c} }

// Obtain brings the submodules whose files belong into the work folder at commit into the store, and names them, each after the one
// it lies in. Scratch is a folder for it alone, and tag a variable that marks what it starts.
func (s *Store) Obtain(ctx context.Context, commit, scratch, tag string) ([]Placed, error) {
	if found, ok := s.known.Load(commit); ok {
		return found.([]Placed), nil
	}
	if err := s.config.Repo.Complete(ctx, commit); err != nil {
		return nil, err
	}
	found, err := s.find(ctx, commit, (&obtaining{Store: s, scratch: scratch, tag: tag}).obtain)
	if err == nil {
		s.known.Store(commit, found)
	}
	return found, err
}

// Check says what is known, without fetching or writing anything, to keep an environment from having the submodules of commit,
// as an *environment.SubmoduleError.
func (s *Store) Check(ctx context.Context, commit string) error {
	if remote, err := s.config.Repo.Promisor(ctx); err != nil || remote != "" { // what a partial clone lacks is fetched first
		return err
	}
	_, err := s.find(ctx, commit, s.locate)
	return err
}

// found is one search. Problems are collected, so that a person hears of all at once.
type found struct {
	repo *git.Repo
	// get finds a submodule's tree and the objects that it consists of; none where that is not known yet.
	get      func(context.Context, module) (tree, objects string, err error)
	placed   []Placed
	problems environment.SubmoduleError
}

func (s *Store) find(ctx context.Context, commit string, get func(context.Context, module) (tree, objects string, err error)) ([]Placed, error) {
	f := &found{repo: s.config.Repo, get: get}
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
	list, err := f.repo.Submodules(ctx, tree, folders...)
	if errors.Is(err, git.ErrInvalid) {
		f.add(&environment.SubmoduleError{Problems: []string{err.Error()}})
		return nil
	}
	if err != nil || len(list) == 0 {
		return err
	}
	if len(parent.chain) == 0 {
		if parent.from, err = f.repo.OriginURL(ctx); err != nil {
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
	f.placed = append(f.placed, Placed{Path: m.path, Tree: tree})
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
