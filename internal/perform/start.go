package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// precondition must hold before a run makes anything: without it, the run would fail after its agents were paid.
type precondition struct {
	what string
	met  func(ctx context.Context, base string) error
	// starts: the check may start programs that the repository's git configuration names.
	starts bool
}

// preconditions are those that need no environment to check, the cheapest first.
func (p *Performer) preconditions() []precondition {
	knowsUser := func(ctx context.Context, _ string) error {
		_, err := p.Repo.User(ctx) // the author of the run's commits
		return err
	}
	canFilter := func(ctx context.Context, _ string) error { return p.Repo.CheckFilters(ctx) } // the filters that the user's git requires
	return []precondition{{"disk", p.hasRoom, false}, {"identity", knowsUser, false}, {"submodules", p.hasSubmodules, false},
		{"signature", p.canSign, true}, {"filters", canFilter, true}, {"merge", p.mayMerge, true}}
}

// Obstacle would stop every run into a base branch before it begins.
type Obstacle struct {
	// What is the precondition: disk, identity, submodules, signature, filters or merge.
	What  string
	Error workflow.Error
}

// Obstacles returns all obstacles for runs into base, found by the code that stops them. With quiet, it starts no program that the
// repository's git configuration could name.
func (p *Performer) Obstacles(ctx context.Context, base string, quiet bool) (found []Obstacle) {
	x := p.of(workflow.Run{Details: workflow.Details{Base: base}})
	for _, c := range p.preconditions() {
		if c.starts && quiet {
			continue
		}
		if err := c.met(ctx, base); err != nil {
			e := x.failure(workflow.Action{Kind: workflow.CreateBranch}, err)
			e.Next = slices.DeleteFunc(e.Next, func(s workflow.NextStep) bool { return len(s.Runs) > 0 }) // there is no run
			found = append(found, Obstacle{c.what, e})
		}
	}
	return found
}

// leastRoom is the least free space for a run, in bytes: the size of the largest file that a change may add.
const leastRoom = 50 << 20

func (p *Performer) hasRoom(context.Context, string) error {
	root := p.Repo.Root()
	var disk unix.Statfs_t
	if err := unix.Statfs(root, &disk); err != nil {
		return fmt.Errorf("get free space below %s: %w", root, err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < leastRoom { //nolint:gosec // a block's size is positive
		return fmt.Errorf("%d MiB are free below %s, and a run needs %d at least: %w", free>>20, root, leastRoom>>20, syscall.ENOSPC)
	}
	return nil
}

// checksSubmodules is a driver that can tell whether its environments can have the submodules of a commit.
type checksSubmodules interface {
	CheckSubmodules(ctx context.Context, commit string) error
}

// hasSubmodules checks, without fetching, whether an environment can have the submodules of the base.
func (p *Performer) hasSubmodules(ctx context.Context, base string) error {
	driver, ok := p.Environments.(checksSubmodules)
	if !ok {
		return nil
	}
	at, err := place.Base(ctx, p.Repo, base)
	if errors.Is(err, forge.ErrNoBase) {
		return nil // CreateBranch reports that
	}
	if err == nil {
		err = driver.CheckSubmodules(ctx, at)
	}
	return err
}

// populateSubmodules returns the ways to get the files of missing submodules.
func populateSubmodules(e *environment.SubmoduleError) []workflow.NextStep {
	steps := []workflow.NextStep{byGit("let your git fetch it, here in this checkout", "submodule", "update", "--init", "--recursive")}
	hosts := slices.Compact(slices.Sorted(slices.Values(e.Hosts)))
	for i, host := range hosts {
		if strings.HasPrefix(host, "[") { // it would begin a list in YAML
			hosts[i] = `"` + host + `"`
		}
	}
	if len(hosts) > 0 {
		steps = append(steps, workflow.Advice("or let environments reach its host, in .signalbox/config.yaml: environment: {allow: ["+strings.Join(hosts, ", ")+"]}"))
	}
	if e.Closed {
		steps = append(steps, workflow.Advice("or open the network of environments, in .signalbox/config.yaml: environment: {network: registries}"))
	}
	return append(steps, workflow.Advice("or do without its files, in .signalbox/config.yaml: environment: {submodules: false}"))
}

// canSign checks that the key is available that signs the run's commits.
func (p *Performer) canSign(ctx context.Context, base string) error {
	signs, err := p.Repo.Signs(ctx, cmp.Or(p.Commits.Sign, git.SignNever))
	if err != nil || !signs {
		return err
	}
	at, err := place.Base(ctx, p.Repo, base)
	if errors.Is(err, forge.ErrNoBase) {
		return nil // CreateBranch reports that
	}
	if err != nil {
		return err
	}
	tree, err := p.Repo.TreeOf(ctx, at)
	if err == nil { // the commit is on no ref
		_, err = p.Repo.CommitAs(ctx, tree, nil, "See whether commits can be signed\n", time.Unix(0, 0), git.SignAlways)
	}
	return err
}

// mayMerge asks the forge whether it could merge now.
func (p *Performer) mayMerge(ctx context.Context, base string) error {
	if f, ok := p.Forge.(forge.Mergeable); ok {
		return f.MayMerge(ctx, base)
	}
	return nil
}

// AgentError: an agent can't be called. No model was called to find that out.
type AgentError struct {
	// Role is one of the agent's roles in the run. Code is that of a failed call.
	Role workflow.Role
	Code string
	// Next is what a person can do about it.
	Next workflow.NextStep
	// Passing: it may pass by itself within a minute.
	Passing bool
	Err     error
}

func (e *AgentError) Error() string { return e.Err.Error() }

func (e *AgentError) Unwrap() error { return e.Err }

// agentsStart checks inside the environment that the run's agents can be called, once per engine: installed programs may change
// in between. Without MayCall it checks nothing.
func (x *execution) agentsStart(ctx context.Context, inside process.Executor) error {
	if x.run.Details.Preparing || x.MayCall == nil || x.presence.AgentsStart {
		return nil
	}
	err := x.MayCall(ctx, x.run.Details.Program, x.run.Roles(), inside)
	x.presence.AgentsStart = err == nil
	return err
}

// isolationContainer is the isolation of an environment with an image's programs. Its setup may install agents, so they may be missing
// before.
const isolationContainer = "container"
