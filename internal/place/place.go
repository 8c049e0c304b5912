// Package place owns a run's environment as a place: which one it is, who may
// enter it, how work in it is saved on refs, and what an agent in it may spend.
// It refuses to move a run: the engine does that.
package place

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"signalbox/internal/engine"
	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// Config is what Places need. PerRun, PerDay and Logger are optional.
type Config struct {
	Runs  Runs
	Locks engine.Locks
	// Registry lists the environments for other programs (environments.json).
	Registry     engine.Document[registry.Environments]
	Repo         *git.Repo
	Environments environment.Driver
	// PerRun is the budget of one run's agents, until a person grants more; nil keeps the budget with which a run
	// began. PerDay is the budget of all agents together for a day (UTC).
	PerRun *budget.Amount
	PerDay budget.Amount
	Now    func() time.Time
	Logger *slog.Logger
}

// Runs are a project's runs, to open one as its engine does and to read them all.
type Runs interface {
	engine.Runs
	LoadRun(ctx context.Context, ref workflow.RunRef) (workflow.Run, error)
	Runs(ctx context.Context) ([]engine.RunSummary, error)
}

// Places are the environments of a project's runs.
type Places struct{ Config }

// New returns the places of a project.
func New(c Config) *Places {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Places{c}
}

// Spec describes the environment of a run. It depends on the run alone, so making it again finds the first.
func Spec(run *workflow.Run) environment.Spec {
	j := run.Details
	_, slug, _ := strings.Cut(j.Branch, "/")
	return environment.Spec{ID: run.EnvironmentID(), Dir: ".worktrees/issue-" + slug,
		Commit: j.BaseCommit, Branch: j.Branch, Image: j.Image()}
}

// Base returns the present commit of a base branch. forge.ErrNoBase if there is no such branch.
func Base(ctx context.Context, repo *git.Repo, branch string) (string, error) {
	at, err := repo.Resolve(ctx, "refs/heads/"+branch)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return "", fmt.Errorf("find base branch %q: %w", branch, forge.ErrNoBase)
	case err != nil:
		return "", fmt.Errorf("find base branch %q: %w", branch, err)
	}
	return at, nil
}

// Before returns the commit to compare a commit of the run's branch with: the last one that its base branch has, too. The
// difference is what a merge would change, without what was merged into the branch from its base. A run that was merged is
// compared with the base branch of then.
func Before(ctx context.Context, repo *git.Repo, run *workflow.Run, at string) (string, error) {
	j := &run.Details
	base, err := "", error(nil)
	if j.MergeCommit != "" && j.PullRequest != nil && j.PullRequest.Checked != nil {
		base = j.PullRequest.Checked.Base
	} else {
		base, err = Base(ctx, repo, j.Base)
	}
	if err == nil {
		base, err = repo.MergeBase(ctx, base, at)
	}
	if errors.Is(err, forge.ErrNoBase) || errors.Is(err, git.ErrNotFound) || err == nil && base == at && j.MergeCommit != "" { // no such branch, or merged by hand
		return j.BaseCommit, nil
	}
	return base, err
}

// RunVariable tags every process of a run, so that those of a killed engine can be found.
const RunVariable = "SIGNALBOX_RUN_ID"

// Variables are the environment variables of every program of the run.
func Variables(run *workflow.Run) []string {
	variables := []string{
		RunVariable + "=" + run.RunID,
		"SIGNALBOX_REQUEST_ID=" + run.RequestID,
		"SIGNALBOX_ISSUE=" + run.Ref(),
		"SIGNALBOX_BRANCH=" + run.Details.Branch,
		"SIGNALBOX_BASE=" + run.Details.Base,
	}
	return append(variables, PortVariables(run.Details.Number)...)
}

// PortVariables tell programs which TCP ports are theirs, so that environments on one machine don't take each other's.
func PortVariables(number int) []string {
	first, last := workflow.Ports(number)
	return []string{fmt.Sprintf("SIGNALBOX_PORT=%d", first), fmt.Sprintf("SIGNALBOX_PORT_RANGE=%d-%d", first, last)}
}
