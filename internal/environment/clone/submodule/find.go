// Package submodule finds the submodules of a commit and keeps their objects in one store. The objects come from the user's own
// checkout, or are fetched from the submodule's address inside a sandbox, and are checked when they enter the store.
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

// Placed is a submodule's path in a work folder, and the tree of its files there.
type Placed struct {
	Path string `json:"path"`
	Tree string `json:"tree"`
}

// module is a submodule of a commit, or of a submodule.
type module struct {
	git.Submodule
	chain []git.Submodule // the submodules around it, outermost first, and itself
	path  string          // in the work folder
	from  string          // the address that a relative address starts from
}

// maxDeep and maxPlaced are about ten times the numbers of the largest projects.
const maxDeep, maxPlaced = 10, 500

// Config configures a store. Repo, Git and State have no default.
type Config struct {
	// Repo is the project's own, trusted repository.
	Repo *git.Repo
	Git  plumbing.Git
	// State is the folder of the store.
	State string
	// Sandbox is where git fetches; nil means on this machine without one.
	Sandbox *sandbox.Sandbox
	// ReadOnly are the host paths that git may read. Variables are this machine's (KEY=value); git gets those for proxies and
	// certificates.
	ReadOnly, Variables []string
	// Network is the network access of a fetch: egress.Full (also when empty), egress.Registries (the hosts of Egress) or
	// egress.None.
	Network string
	Egress  egress.Policy
}

// Store holds the objects of submodules, for all environments of a project. It touches nothing before Obtain.
type Store struct {
	Config
	// known are the submodules ([]Placed) of commits, once they are in the store.
	known sync.Map
}

// Obtain brings the submodules of commit into the store and returns them, each after the one around it. Scratch is a folder for
// this call alone, and tag a variable that marks the processes it starts.
func (s *Store) Obtain(ctx context.Context, commit, scratch, tag string) ([]Placed, error) {
	if found, ok := s.known.Load(commit); ok {
		return found.([]Placed), nil
	}
	if err := s.Repo.Complete(ctx, commit); err != nil {
		return nil, err
	}
	found, err := s.find(ctx, commit, (&obtaining{Store: s, scratch: scratch, tag: tag}).obtain)
	if err == nil {
		s.known.Store(commit, found)
	}
	return found, err
}

// Check returns an *environment.SubmoduleError if an environment can't have the submodules of commit. It fetches and writes
// nothing, so Obtain may still fail.
func (s *Store) Check(ctx context.Context, commit string) error {
	if remote, err := s.Repo.Promisor(ctx); err != nil || remote != "" { // a partial clone fetches missing objects first
		return err
	}
	_, err := s.find(ctx, commit, s.locate)
	return err
}

// found is one search. It collects problems, so that a person sees them all at once.
type found struct {
	repo *git.Repo
	// get finds a submodule's tree and the folder of its objects, or returns nothing if they must be fetched first.
	get      func(context.Context, module) (tree, objects string, err error)
	placed   []Placed
	problems environment.SubmoduleError
}

func (s *Store) find(ctx context.Context, commit string, get func(context.Context, module) (tree, objects string, err error)) ([]Placed, error) {
	f := &found{repo: s.Repo, get: get}
	if err := f.below(ctx, commit, "", module{}); err != nil {
		return nil, fmt.Errorf("find submodules of %s: %w", commit, err)
	}
	if len(f.problems.Problems) > 0 {
		return nil, &f.problems
	}
	return f.placed, nil
}

// below finds the submodules of a tree, and the submodules in those.
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
		tree, objects, err := f.get(ctx, m)
		if problem := (*environment.SubmoduleError)(nil); errors.As(err, &problem) {
			f.add(problem)
			continue
		}
		if err != nil {
			return err
		}
		if tree == "" {
			continue
		}
		f.placed = append(f.placed, Placed{Path: m.path, Tree: tree})
		if address, err := git.SubmoduleURL(m.from, m.URL); err == nil {
			m.from = address
		}
		if err := f.below(ctx, tree, objects, m); err != nil {
			return err
		}
	}
	return nil
}

func (f *found) add(p *environment.SubmoduleError) {
	f.problems.Problems = append(f.problems.Problems, p.Problems...)
	f.problems.Hosts = append(f.problems.Hosts, p.Hosts...)
	f.problems.Closed = f.problems.Closed || p.Closed
	f.problems.Passing = p.Passing && (f.problems.Passing || len(f.problems.Problems) == len(p.Problems))
}

// problem returns the reason why the commit of a submodule is missing.
func (m module) problem(why string, args ...any) *environment.SubmoduleError {
	return &environment.SubmoduleError{Problems: []string{redact.Line(fmt.Sprintf("submodule %q: commit %.12s is not in this checkout, and ", m.path, m.Commit)+
		fmt.Sprintf(why, args...), 500)}}
}
