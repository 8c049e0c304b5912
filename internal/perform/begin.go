package perform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// theRequest returns the request. It reads it once per engine; one that others can change meanwhile is as the run saw it first.
func (x *execution) theRequest(ctx context.Context) (forge.Request, error) {
	if x.asked != nil {
		return *x.asked, nil
	}
	read := x.Forge.Request
	if keeps, ok := x.Forge.(forge.Keeping); ok {
		read = func(ctx context.Context, ref string) (forge.Request, error) { return keeps.Keep(ctx, x.run.RunID, ref) }
	}
	request, err := read(ctx, x.run.RequestID)
	if err != nil {
		return request, fmt.Errorf("read request %s: %w", x.run.RequestID, err)
	}
	x.asked = &request
	return request, nil
}

func (x *execution) checkDependencies(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	request, err := x.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	if x.run.Details.Preparing {
		return workflow.DependenciesChecked{Outcome: o}, nil
	}
	var missing []string
	for _, ref := range request.DependsOn {
		needed, err := x.Forge.Request(ctx, ref)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return nil, fmt.Errorf("read request %q: %w", ref, err)
		}
		if err != nil || !needed.Closed {
			missing = append(missing, ref)
		}
	}
	return workflow.DependenciesChecked{Outcome: o, Missing: missing}, nil
}

// errNameTaken: git keeps refs as files, so one name cannot be a branch and the folder of others.
var errNameTaken = errors.New(`the branch "signalbox" is in the way of branches named "signalbox/…"`)

// createBranch puts the run's branch on the base branch's present commit. It first saves on a ref what an earlier run of
// the request left there.
func (x *execution) createBranch(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	j := x.run.Details
	if !j.Preparing { // a session merges nothing, so none applies
		for _, p := range x.preconditions() {
			if err := p.met(ctx, j.Base); err != nil {
				return nil, err
			}
		}
	}
	if _, err := x.Repo.Resolve(ctx, "refs/heads/signalbox"); err == nil {
		return nil, errNameTaken
	}
	base, err := place.Base(ctx, x.Repo, j.Base)
	if err != nil {
		return nil, err
	}
	at, err := x.Repo.Resolve(ctx, x.branchRef())
	switch {
	case errors.Is(err, git.ErrNotFound):
		err = x.Repo.CreateBranch(ctx, j.Branch, base)
	case err == nil && at != base:
		var merged bool
		if merged, err = x.Repo.IsAncestor(ctx, at, base); err == nil && !merged { // only the branch has it
			err = x.Places.SaveWork(ctx, &x.run, at)
		}
		if err == nil {
			err = x.Repo.UpdateRef(ctx, x.branchRef(), base, at)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create branch %q: %w", j.Branch, err)
	}
	return workflow.BranchCreated{Outcome: o, BaseCommit: base}, nil
}

// createEnvironment makes the environment and registers it. It removes one that it can't register, because nothing would find it again.
func (x *execution) createEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	spec := place.Spec(&x.run)
	if x.run.Details.EnvID != "" { // it starts again on another base
		if err := x.keepLeft(ctx, a); err != nil {
			return nil, err
		}
		if err := x.Environments.Remove(ctx, spec); err != nil {
			return nil, fmt.Errorf("remove environment %s: %w", spec.ID, err)
		}
	}
	env, err := x.Environments.Make(ctx, spec)
	if errors.Is(err, environment.ErrOtherSpec) && x.run.Details.EnvID == "" {
		// An attempt on an earlier base made it and then failed, so nothing has worked there yet.
		if err = x.Environments.Remove(ctx, spec); err == nil {
			env, err = x.Environments.Make(ctx, spec)
		}
	}
	if err != nil {
		return nil, err
	}
	x.env, x.image = env, spec.Image
	err = x.Places.Registry.Update(ctx, func(doc *registry.Environments) error {
		if slices.ContainsFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == spec.ID }) {
			return nil
		}
		now, j := x.Clock.Now().UTC(), x.run.Details
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: spec.ID, Branch: j.Branch,
			IssueNumber: j.Number, Title: x.run.Title, Status: registry.EnvironmentActive, Phase: workflow.EnvCreate,
			Step: workflow.EnvCreate.Step(), Area: j.Settings.Area, CreatedAt: now, LastUsedAt: now})
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("register environment %s: %w", spec.ID, err), x.Environments.Remove(ctx, spec))
	}
	if env.Isolation() != isolationContainer {
		inside := process.Executor(env)
		if l, ok := env.(looks); ok {
			inside = onlooker{l}
		}
		if err := x.agentsStart(ctx, inside); err != nil {
			return nil, err
		}
	}
	return workflow.EnvironmentCreated{Outcome: o, EnvID: spec.ID, Path: spec.Dir, Isolation: env.Isolation(),
		Fingerprint: env.Fingerprint()}, nil
}

// looks is an environment that can run a command which changes nothing.
type looks interface {
	Look(ctx context.Context, c process.Command) (process.Result, error)
}

// onlooker runs commands that must change nothing.
type onlooker struct{ at looks }

func (o onlooker) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return o.at.Look(ctx, c)
}

// environment attaches to the run's environment, or makes it again.
func (x *execution) environment(ctx context.Context) (environment.Environment, error) {
	spec, head := place.Spec(&x.run), x.run.Details.Head
	if x.env != nil && x.image == spec.Image {
		return x.env, nil
	}
	_, err := x.Environments.Attach(ctx, spec)
	gone := errors.Is(err, fs.ErrNotExist)
	env, err := x.Environments.Make(ctx, spec)
	if err == nil && gone && head != spec.Commit {
		// A new one begins at the base: recording that would undo the run's work.
		err = env.Reset(ctx, head, "")
	}
	if err != nil {
		return nil, err
	}
	x.env, x.image = env, spec.Image
	return env, nil
}

// designFiles tell a planner how a project is built and what it's meant to be, the most telling first.
var designFiles = []string{"AGENTS.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "DESIGN.md", "docs/DESIGN.md", "README.md",
	"Makefile", "go.mod", "package.json", "pyproject.toml", "requirements.txt", "setup.py", "Pipfile", "environment.yml",
	"condaenv.yaml", "pom.xml", "build.gradle", "build.gradle.kts", "Dockerfile", "docker-compose.yml", "mise.toml",
	".tool-versions", ".devcontainer/devcontainer.json"}

// designLimit is how much of one document a planner sees, in bytes.
const designLimit = 16 << 10

func (x *execution) readDesign(ctx context.Context, o workflow.Outcome, _ workflow.Action) (workflow.Event, error) {
	documents, err := x.design(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range documents {
		names = append(names, path.Clean(d.Name))
	}
	return workflow.DesignFound{Outcome: o, Files: names}, nil
}

// document is a file of the project in a prompt.
type document struct{ Name, Content string }

func (x *execution) design(ctx context.Context) ([]document, error) {
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, name := range designFiles {
		content, err := env.Read(ctx, name, designLimit)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				x.Logger.Info("design document is left out", "run", x.run.RunID, "file", name, "err", err)
			}
			continue
		}
		documents = append(documents, document{name, string(content)})
	}
	return documents, nil
}
