package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/config"
	"signalbox/internal/environment/detect"
	"signalbox/internal/forge"
	"signalbox/internal/forge/local"
	"signalbox/internal/git"
	"signalbox/internal/lazy"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// Start describes a new run of the request, with the configuration as it is now.
func (p *Project) Start(ctx context.Context, request forge.Request) (workflow.Start, error) {
	settings, err := p.settings(request)
	if err != nil {
		return workflow.Start{}, err
	}
	base := request.Base
	if base == "" {
		if base, err = p.Base(ctx); err != nil {
			return workflow.Start{}, err
		}
	}
	if err := p.MayMergeInto(ctx, base, request); err != nil {
		return workflow.Start{}, err
	}
	if p.Pushes(ctx) {
		settings.PushesTo = local.Remote
		if p.Hosted != nil {
			settings.PushesTo = cmp.Or(p.Hosted.PushesTo(ctx), local.Remote)
		}
	}
	// The branch's name is published. A title may hold a secret, and its words joined by dashes may form one.
	slug := git.Slug(p.Redact.String(request.Title))
	if p.Redact.String(slug) != slug {
		slug = git.Slug("")
	}
	return workflow.Start{RequestID: request.ID, Number: request.Number, Title: request.Title, RequestPath: request.Path,
		Branch: fmt.Sprintf("signalbox/%d-%s", request.Number, slug), Base: base, Settings: settings, Program: p.Overrides.Agent}, nil
}

// Pushes reports whether branches and merges go to a remote.
func (p *Project) Pushes(ctx context.Context) bool {
	_, err := p.Repo.Remote(ctx, local.Remote)
	return err == nil && p.Config.Push != config.PushNever
}

// Base is the branch to merge into if a request names none.
func (p *Project) Base(ctx context.Context) (string, error) {
	if p.Config.Base != "" {
		return p.Config.Base, nil
	}
	if detached, err := p.Repo.Detached(ctx); err == nil && detached {
		return "", &problem.Error{Err: errors.New("no branch is checked out here (detached HEAD), and nothing says which one to merge into"),
			Hint: "check one out: git switch main; or name it: --base main, or base in " + config.Name}
	}
	base, err := p.Repo.DefaultBranch(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return "", errNothingCommitted
	}
	if errors.Is(err, git.ErrInvalid) {
		return "", &problem.Error{Err: err, Hint: "give it another name: git branch -m a-name-of-letters; or name another one to merge into: --base main"}
	}
	if err != nil {
		return "", fmt.Errorf("find the branch to merge into: %w", err)
	}
	return base, nil
}

// MayMergeInto refuses a base branch that doesn't exist, before anything is made for it.
func (p *Project) MayMergeInto(ctx context.Context, base string, request forge.Request) error {
	if err := p.NameIsFree(ctx); err != nil {
		return err
	}
	_, err := p.Repo.Resolve(ctx, "refs/heads/"+base)
	invalid := errors.Is(err, git.ErrInvalid)
	if err == nil || !invalid && !errors.Is(err, git.ErrNotFound) {
		return Explained(err)
	}
	if _, none := p.Repo.DefaultBranch(ctx); errors.Is(none, git.ErrNotFound) {
		return errNothingCommitted
	}
	where := "base in " + config.Name
	switch {
	case request.Base != "":
		where = "base in " + request.Path
	case p.Overrides.Base != "":
		where = "--base"
	}
	missing := fmt.Errorf("there is no branch %q to merge into, which is named by %s", base, where)
	if invalid {
		return &problem.Error{Err: missing, Hint: `name one of those that "git branch" lists`}
	}
	if remote, branch, ok := strings.Cut(base, "/"); ok {
		if _, err := p.Repo.Remote(ctx, remote); err == nil || remote == Remote { // a run merges into a branch of this repository
			if _, err := p.Repo.Resolve(ctx, "refs/heads/"+branch); err == nil {
				return &problem.Error{Err: missing, Hint: fmt.Sprintf("name the branch here, not the remote's: %s", branch)}
			}
			return &problem.Error{Err: missing, Hint: fmt.Sprintf("make a branch of it here: git branch %s %s; and name that: %[1]s", commandline.ShellWord(branch), commandline.ShellWord(base))}
		}
	}
	if _, err := p.Repo.Resolve(ctx, "refs/tags/"+base); err == nil || commitID().MatchString(base) {
		return &problem.Error{Err: missing, Hint: fmt.Sprintf("a run merges into a branch, and this is a tag or a commit: make a branch of it (git branch release %s) and name that", commandline.ShellWord(base))}
	}
	return &problem.Error{Err: missing,
		Hint: fmt.Sprintf("name one of those that \"git branch\" lists, or make it: git branch %s", commandline.ShellWord(base))}
}

// commitID matches what people copy for a commit.
var commitID = lazy.Pattern(`^[0-9a-f]{7,64}$`)

// NameIsFree: git keeps refs as files, so one name cannot be a branch and the folder of the runs' branches.
func (p *Project) NameIsFree(ctx context.Context) error {
	if _, err := p.Repo.Resolve(ctx, "refs/heads/signalbox"); err != nil {
		return nil //nolint:nilerr // a run reports any other problem
	}
	return &problem.Error{Err: errors.New(`the branch "signalbox" is in the way of branches named "signalbox/…", on which runs work`),
		Hint: "give it another name: git branch -m signalbox signalbox-old"}
}

var errNothingCommitted = &problem.Error{Err: errors.New("nothing is committed here yet, so there is nothing to change and no branch to merge into"),
	Hint: FirstCommit}

// FirstCommit is what to type in a repository without any.
const FirstCommit = `make the first commit: git add . && git commit -m Begin`

// FixWorkflow is what to do about a workflow that is none, which the file, a variable or a flag may name.
func (p *Project) FixWorkflow() string {
	switch {
	case len(p.Overrides.Workflow) > 0:
		return "correct --workflow: signalbox run --help shows what there is"
	case p.Env("SIGNALBOX_WORKFLOW") != "":
		return "correct the variable SIGNALBOX_WORKFLOW, or: unset SIGNALBOX_WORKFLOW"
	}
	return "correct workflow in " + config.Name
}

func (p *Project) settings(request forge.Request) (workflow.Settings, error) {
	if err := p.mayRunHere(request); err != nil {
		return workflow.Settings{}, err
	}
	name, phases, err := workflow.WorkflowPhases(p.Config.Workflow...)
	if err != nil {
		return workflow.Settings{}, &problem.Error{Err: err, Hint: p.FixWorkflow(), Code: problem.Usage}
	}
	_, _, planner := p.Config.AgentFor("planner", name)
	_, _, reviewer := p.Config.AgentFor("reviewer", name)
	_, _, repairer := p.Config.AgentFor("repairer", name)
	s := workflow.Settings{Workflow: name, Phases: phases, AutoApprove: p.Config.Approve == config.ApproveAuto, ApproveOnForge: p.Config.Approve == config.ApproveForge, Drafts: p.Config.Forge.Hosted() && p.Config.Forge.Draft,
		Tests: p.Config.Tests, TestsE2E: p.Config.TestsE2E, Area: request.Area, Stress: p.Config.Stress, HasPlanner: planner, HasReviewer: reviewer, NoRepairer: !repairer,
		StopOnSetUpFailure: p.Config.Environment.OnFailure == config.OnFailureStop, Limits: Limits(p.Config.Limits)}
	p.EnvironmentSettings(&s)
	for _, line := range request.Tests { // they only add: a stranger's request may not choose what judges its change
		if !slices.Contains(s.Tests, line) {
			s.Tests, s.OfRequest = append(slices.Clone(s.Tests), line), append(s.OfRequest, line)
		}
	}
	return s, nil
}

// mayRunHere refuses tests of a request that would run without a sandbox and aren't among the configured commands, which the user has agreed to.
// Who wrote the request doesn't count: a commit that brought it can be undone, and a run that continues reads it again.
func (p *Project) mayRunHere(request forge.Request) error {
	agreed := append(slices.Concat(p.Config.Tests, p.Config.TestsE2E), p.Config.Stress)
	for _, check := range p.Config.Health.Checks {
		agreed = append(agreed, check.Command)
	}
	i := slices.IndexFunc(request.Tests, func(line string) bool { return !slices.Contains(agreed, line) })
	if i < 0 || !p.Unsandboxed() || p.Trust.Standing == TrustGiven {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("the test %q of %s would run on this machine as you: there is no sandbox",
		redact.Line(p.Redact.String(request.Tests[i]), 200), request.Path),
		Hint: fmt.Sprintf("read it, then say --trust, or name the command in %s too: signalbox trust shows what that file runs", config.Name)}
}

// Limits are the configured limits, or the defaults.
func Limits(c config.Limits) workflow.Limits {
	l := workflow.DefaultLimits()
	for _, set := range []struct {
		to   *int
		from int
	}{
		{&l.ReviewRounds, c.ReviewRounds}, {&l.CIFailures, c.CIFailures}, {&l.SetUpRepairs, c.SetUpRepairs},
		{&l.Autofix, c.Autofix}, {&l.ContractRetries, c.ContractRetries}, {&l.AgentRetries, c.AgentRetries},
		{&l.ActionRetries, c.ActionRetries}, {&l.BaseConflicts, c.BaseConflicts}, {&l.MaxDiffLines, c.MaxDiffLines},
		{&l.AgentIdleSec, Whole(c.AgentIdle)}, {&l.AgentTotalSec, Whole(c.AgentTotal)}, {&l.AnswerWithinSec, Whole(c.AnswerWithin)}, {&l.TestTotalSec, Whole(c.TestTotal)},
		{&l.SetUpTotalSec, Whole(c.SetUpTotal)}, {&l.ChecksTotalSec, Whole(c.ChecksTotal)},
	} {
		if set.from > 0 {
			*set.to = set.from
		}
	}
	l.Tokens, l.CostMicroUSD, l.Calls = c.Tokens, int64(c.CostUSD*1e6), c.Calls
	return l
}

// Whole is d in seconds, rounded up: half a second is a limit too.
func Whole(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// EnvironmentSettings records what the configuration says about environments.
func (p *Project) EnvironmentSettings(s *workflow.Settings) {
	e := p.Config.Environment
	s.EnvironmentName, s.SetUp, s.Image = e.Name, e.SetUp, e.Image
	s.NoSetUp = e.SetUp != nil && len(e.SetUp)+len(e.Verify) == 0
	for _, v := range e.Verify {
		s.Verification = append(s.Verification, workflow.Verification{Command: v.Command, Expected: v.Expect})
	}
	for _, known := range detect.Catalogue(e.Images) {
		s.Environments = append(s.Environments, known.Name)
		if e.Driver == config.DriverContainer && known.Image != "" {
			if s.Images == nil {
				s.Images = map[string]string{}
			}
			s.Images[known.Name] = known.Image
		}
	}
}
