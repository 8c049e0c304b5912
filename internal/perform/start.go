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
	"signalbox/internal/process"
	"signalbox/internal/workflow"
)

// precondition has to hold before a run makes anything: without it the run would fail after its agents were paid.
type precondition struct {
	what string
	met  func(ctx context.Context, base string) error
	// starts: it may start programs that the repository's own git configuration names.
	starts bool
}

// preconditions are what can be found out without an environment, the cheapest first.
func (p *Performer) preconditions() []precondition {
	knowsUser := func(ctx context.Context, _ string) error {
		_, err := p.Repo.User(ctx) // whose name the run's commits carry
		return err
	}
	canFilter := func(ctx context.Context, _ string) error { return p.Repo.CheckFilters(ctx) } // those that the user's git requires for files of the checkout
	return []precondition{{"disk", p.hasRoom, false}, {"identity", knowsUser, false}, {"submodules", p.hasSubmodules, false},
		{"signature", p.canSign, true}, {"filters", canFilter, true}, {"merge", p.mayMerge, true}}
}

// Obstacle is what would stop every run that is merged into a base branch, before it begins.
type Obstacle struct {
	// What is the thing that was looked at: disk, identity, submodules, signature, filters or merge.
	What  string
	Error workflow.Error
}

// Obstacles are all that a run into base would stop at one after the other, found by the code that stops it. With quiet it starts
// nothing that the repository's own git configuration could name.
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

// leastRoom is the free space below which nothing begins, in bytes: as much as the largest file that a change may add.
const leastRoom = 50 << 20

func (p *Performer) hasRoom(context.Context, string) error {
	root := p.Repo.Root()
	var disk unix.Statfs_t
	if err := unix.Statfs(root, &disk); err != nil {
		return fmt.Errorf("look for free space below %s: %w", root, err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < leastRoom { //nolint:gosec // a block's size is positive
		return fmt.Errorf("%d MiB are free below %s, and a run needs %d at least: %w", free>>20, root, leastRoom>>20, syscall.ENOSPC)
	}
	return nil
}

// checksSubmodules is a driver that knows which submodules of a commit its environments could not have.
type checksSubmodules interface {
	CheckSubmodules(ctx context.Context, commit string) error
}

// hasSubmodules finds out, without fetching any, whether an environment can have the submodules of the base.
func (p *Performer) hasSubmodules(ctx context.Context, base string) error {
	driver, ok := p.Environments.(checksSubmodules)
	if !ok {
		return nil
	}
	at, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	if errors.Is(err, git.ErrNotFound) {
		return nil // which is said of the branch
	}
	if err == nil {
		err = driver.CheckSubmodules(ctx, at)
	}
	return err
}

// populateSubmodules are the ways out where submodules cannot be had.
func populateSubmodules(e *environment.SubmoduleError) []workflow.NextStep {
	steps := []workflow.NextStep{byGit("let your git fetch it, here in this checkout", "submodule", "update", "--init", "--recursive")}
	hosts := slices.Compact(slices.Sorted(slices.Values(e.Hosts)))
	for i, host := range hosts {
		if strings.HasPrefix(host, "[") { // which begins a list in YAML
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

// canSign finds out whether the key is to be had by which the run's commits are signed.
func (p *Performer) canSign(ctx context.Context, base string) error {
	signs, err := p.Repo.Signs(ctx, cmp.Or(p.Commits.Sign, git.SignNever))
	if err != nil || !signs {
		return err
	}
	at, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	if errors.Is(err, git.ErrNotFound) {
		return nil // which is said of the branch
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

// mayMerge asks the forge whether the merge at the run's end is possible as things stand.
func (p *Performer) mayMerge(ctx context.Context, base string) error {
	if f, ok := p.Forge.(forge.Mergeable); ok {
		return f.MayMerge(ctx, base)
	}
	return nil
}

// AgentError: an agent could not be called, which was found out without calling it.
type AgentError struct {
	// Role is one that the agent has in the run, Code what the call would have ended with.
	Role workflow.Role
	Code string
	// Next is what to do about it.
	Next workflow.NextStep
	// Passing: it may be gone by itself in a minute.
	Passing bool
	Err     error
}

func (e *AgentError) Error() string { return e.Err.Error() }

func (e *AgentError) Unwrap() error { return e.Err }

// agentsStart asks, where the agents are to work, whether those of the run could be called: once per engine, for what is installed
// may change between two. Where it is not known who could say that, they are called.
func (x *execution) agentsStart(ctx context.Context, inside process.Executor) error {
	if x.run.Details.Preparing || x.MayCall == nil || x.presence.AgentsStart {
		return nil
	}
	err := x.MayCall(ctx, x.run.Details.Program, x.run.Roles(), inside)
	x.presence.AgentsStart = err == nil
	return err
}

// isolationContainer is what an environment says of itself whose programs are an image's: its set-up may bring agents, too, so that
// nothing is missing before it ran.
const isolationContainer = "container"
