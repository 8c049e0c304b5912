package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/workflow"
)

// start is a new run of the request, with the configuration of this moment.
func (p *project) start(ctx context.Context, request forge.Request) (workflow.Start, error) {
	settings, err := p.settings(request)
	if err != nil {
		return workflow.Start{}, err
	}
	base := request.Base
	if base == "" {
		if base, err = p.base(ctx); err != nil {
			return workflow.Start{}, err
		}
	}
	if err := p.mayMergeInto(ctx, base, request); err != nil {
		return workflow.Start{}, err
	}
	if p.pushes(ctx) {
		settings.PushesTo = local.Remote
	}
	return workflow.Start{RequestID: request.ID, Number: request.Number, Title: request.Title, RequestPath: request.Path,
		Branch: fmt.Sprintf("signalbox/%d-%s", request.Number, p.slug(request.Title)), Base: base, Settings: settings, Program: p.flags.agent}, nil
}

// pushes reports whether branches and merges go to a remote.
func (p *project) pushes(ctx context.Context) bool {
	_, err := p.repo.Remote(ctx, local.Remote)
	return err == nil && p.config.Push != config.PushNever
}

// base is the branch to merge into where a request names none.
func (p *project) base(ctx context.Context) (string, error) {
	if p.config.Base != "" {
		return p.config.Base, nil
	}
	if detached, err := p.repo.Detached(ctx); err == nil && detached {
		return "", &problem{err: errors.New("no branch is checked out here (detached HEAD), and nothing says which one to merge into"),
			hint: "check one out: git switch main; or name it: --base main, or base in " + config.Name}
	}
	base, err := p.repo.DefaultBranch(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return "", nothingCommitted()
	}
	if errors.Is(err, git.ErrInvalid) {
		return "", &problem{err: err, hint: "give it another name: git branch -m a-name-of-letters; or name another one to merge into: --base main"}
	}
	if err != nil {
		return "", fmt.Errorf("find the branch to merge into: %w", err)
	}
	return base, nil
}

// mayMergeInto refuses a base branch that is not there, before anything is made for it.
func (p *project) mayMergeInto(ctx context.Context, base string, request forge.Request) error {
	if err := p.nameIsFree(ctx); err != nil {
		return err
	}
	_, err := p.repo.Resolve(ctx, "refs/heads/"+base)
	invalid := errors.Is(err, git.ErrInvalid)
	if err == nil || !invalid && !errors.Is(err, git.ErrNotFound) {
		return explained(err)
	}
	if _, none := p.repo.DefaultBranch(ctx); errors.Is(none, git.ErrNotFound) {
		return nothingCommitted()
	}
	where := "base in " + config.Name
	switch {
	case request.Base != "":
		where = "base in " + request.Path
	case p.flags.base != "":
		where = "--base"
	}
	missing := fmt.Errorf("there is no branch %q to merge into, which is named by %s", base, where)
	if invalid {
		return &problem{err: missing, hint: `name one of those that "git branch" lists`}
	}
	return &problem{err: missing,
		hint: fmt.Sprintf("name one of those that \"git branch\" lists, or make it: git branch %s", shellWord(base))}
}

// nameIsFree: git keeps refs as files, so one name cannot be a branch and the folder of the runs' branches.
func (p *project) nameIsFree(ctx context.Context) error {
	if _, err := p.repo.Resolve(ctx, "refs/heads/signalbox"); err != nil {
		return nil //nolint:nilerr // what else is wrong, a run says
	}
	return &problem{err: errors.New(`the branch "signalbox" is in the way of branches named "signalbox/…", on which runs work`),
		hint: "give it another name: git branch -m signalbox signalbox-old"}
}

func nothingCommitted() error {
	return &problem{err: errors.New("nothing is committed here yet, so there is nothing to change and no branch to merge into"), hint: firstCommit}
}

// firstCommit is what to type in a repository without any.
const firstCommit = `make the first commit: git add . && git commit -m Begin`

func (p *project) settings(request forge.Request) (workflow.Settings, error) {
	name, phases, err := workflow.WorkflowPhases(p.config.Workflow...)
	if err != nil {
		return workflow.Settings{}, &problem{err: err, hint: "mend workflow in " + config.Name, code: exitUsage}
	}
	_, _, planner := p.config.AgentFor("planner", name)
	_, _, reviewer := p.config.AgentFor("reviewer", name)
	_, _, repairer := p.config.AgentFor("repairer", name)
	s := workflow.Settings{Workflow: name, Phases: phases, AutoApprove: p.config.Approve == config.ApproveAuto,
		Tests: p.config.Tests, TestsE2E: p.config.TestsE2E, Area: request.Area, Stress: p.config.Stress, HasPlanner: planner, HasReviewer: reviewer, NoRepairer: !repairer,
		StopOnSetUpFailure: p.config.Environment.OnFailure == config.OnFailureStop, Limits: limits(p.config.Limits)}
	p.environmentSettings(&s)
	if len(request.Tests) > 0 {
		s.Tests = request.Tests
	}
	return s, nil
}

// limits are the defaults where the configuration is silent.
func limits(c config.Limits) workflow.Limits {
	l := workflow.DefaultLimits()
	for _, set := range []struct {
		to   *int
		from int
	}{
		{&l.ReviewRounds, c.ReviewRounds}, {&l.CIFailures, c.CIFailures}, {&l.SetUpRepairs, c.SetUpRepairs},
		{&l.Autofix, c.Autofix}, {&l.ContractRetries, c.ContractRetries}, {&l.AgentRetries, c.AgentRetries},
		{&l.ActionRetries, c.ActionRetries}, {&l.BaseConflicts, c.BaseConflicts}, {&l.MaxDiffLines, c.MaxDiffLines},
		{&l.AgentIdleSec, whole(c.AgentIdle)}, {&l.AgentTotalSec, whole(c.AgentTotal)}, {&l.AnswerWithinSec, whole(c.AnswerWithin)}, {&l.TestTotalSec, whole(c.TestTotal)},
		{&l.SetUpTotalSec, whole(c.SetUpTotal)}, {&l.ChecksTotalSec, whole(c.ChecksTotal)},
	} {
		if set.from > 0 {
			*set.to = set.from
		}
	}
	l.Tokens, l.CostMicroUSD, l.Calls = c.Tokens, int64(c.CostUSD*1e6), c.Calls
	return l
}

// whole is d in seconds, rounded up: a limit of half a second is not none.
func whole(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// slug is the readable end of the branch's name, which is published. A title may hold a secret, and its words, joined by
// dashes, may make one.
func (p *project) slug(title string) string {
	slug := git.Slug(p.redact.String(title))
	if p.redact.String(slug) != slug {
		return git.Slug("")
	}
	return slug
}
