package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/forge"
	"signalbox/internal/git"
	"signalbox/internal/process"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// theRequest is the request as the forge has it now, read once per runner.
func (w *work) theRequest(ctx context.Context) (forge.Request, error) {
	if w.asked != nil {
		return *w.asked, nil
	}
	request, err := w.Forge.Request(ctx, w.run.RequestID)
	if err != nil {
		return request, fmt.Errorf("read request %s: %w", w.run.RequestID, err)
	}
	w.asked = &request
	return request, nil
}

func (w *work) checkDependencies(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	request, err := w.theRequest(ctx)
	if err != nil {
		return nil, err
	}
	if w.prepares {
		return workflow.DependenciesChecked{Outcome: o}, nil
	}
	var missing []string
	for _, ref := range request.DependsOn {
		needed, err := w.Forge.Request(ctx, ref)
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

// createBranch puts the run's branch on the base branch's present commit. What
// an earlier run of the same request left there is kept on a ref first.
func (w *work) createBranch(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	if err := w.mayStart(ctx); err != nil {
		return nil, err
	}
	j := w.run.Journey
	if _, err := w.Repo.Resolve(ctx, "refs/heads/signalbox"); err == nil {
		return nil, errNameTaken
	}
	base, err := w.Repo.Resolve(ctx, "refs/heads/"+j.Base)
	if err != nil {
		return nil, fmt.Errorf("find base branch %q: %w", j.Base, err)
	}
	at, err := w.Repo.Resolve(ctx, w.branchRef())
	switch {
	case errors.Is(err, git.ErrNotFound):
		err = w.Repo.CreateBranch(ctx, j.Branch, base)
	case err == nil && at != base:
		err = w.moveBranch(ctx, at, base)
	}
	if err != nil {
		return nil, fmt.Errorf("create branch %q: %w", j.Branch, err)
	}
	return workflow.BranchCreated{Outcome: o, BaseCommit: base}, nil
}

// moveBranch puts the run's branch on another commit; what only it had is kept.
func (w *work) moveBranch(ctx context.Context, from, to string) error {
	merged, err := w.Repo.IsAncestor(ctx, from, to)
	if err == nil && !merged {
		err = w.keep(ctx, from)
	}
	if err != nil {
		return err
	}
	return w.Repo.UpdateRef(ctx, w.branchRef(), to, from)
}

// keptRef is where a commit is kept that would otherwise be reachable from nowhere.
func (w *work) keptRef(commit string) string {
	return fmt.Sprintf("%s/%s-%.10s", w.keptFolder(), w.ref.RunID, commit)
}

func (w *work) keep(ctx context.Context, commit string) error {
	if at, err := w.Repo.Resolve(ctx, w.keptRef(commit)); err == nil && at == commit {
		return nil
	}
	err := w.Repo.UpdateRef(ctx, w.keptRef(commit), commit, "")
	if errors.Is(err, git.ErrRefMoved) {
		return nil // it is named after the commit, so it holds it already
	}
	return err
}

// spec names the environment of the run. It follows from the run alone, so
// that making it again finds the first.
func (w *work) spec() environment.Spec {
	j := w.run.Journey
	_, slug, _ := strings.Cut(j.Branch, "/")
	return environment.Spec{ID: w.run.EnvironmentID(), Dir: ".worktrees/issue-" + slug,
		Commit: j.BaseCommit, Branch: j.Branch, Image: j.Image()}
}

// createEnvironment makes the environment and registers it. One that cannot be
// registered is torn down again (E13).
func (w *work) createEnvironment(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	spec := w.spec()
	if w.run.Journey.EnvID != "" { // a new start on another base
		if err := w.keepLeft(ctx, a); err != nil {
			return nil, err
		}
		if err := w.Environments.Remove(ctx, spec); err != nil {
			return nil, fmt.Errorf("remove environment %s: %w", spec.ID, err)
		}
	}
	env, err := w.Environments.Make(ctx, spec)
	if err != nil {
		return nil, err
	}
	w.env, w.image = env, spec.Image
	if err := w.register(ctx, spec); err != nil {
		return nil, errors.Join(fmt.Errorf("register environment %s: %w", spec.ID, err), w.Environments.Remove(ctx, spec))
	}
	if env.Isolation() != isolationContainer {
		if err := w.agentsStart(ctx, onlyLooking(env)); err != nil {
			return nil, err
		}
	}
	return workflow.EnvironmentCreated{Outcome: o, EnvID: spec.ID, Path: spec.Dir, Isolation: env.Isolation(),
		Fingerprint: env.Fingerprint()}, nil
}

// looks is an environment in which a command can be run that changes nothing.
type looks interface {
	Look(ctx context.Context, c process.Command) (process.Result, error)
}

// onlyLooking is where an environment runs commands that are to change nothing in it, if it can.
func onlyLooking(env environment.Environment) process.Executor {
	if l, ok := env.(looks); ok {
		return onlooker{l}
	}
	return env
}

type onlooker struct{ at looks }

func (o onlooker) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	return o.at.Look(ctx, c)
}

func (w *work) register(ctx context.Context, spec environment.Spec) error {
	now := w.Clock.Now().UTC()
	j := w.run.Journey
	return w.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		if slices.ContainsFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == spec.ID }) {
			return nil
		}
		doc.Environments = append(doc.Environments, registry.Environment{EnvID: spec.ID, Branch: j.Branch,
			IssueNumber: j.Number, Title: w.run.Title, Status: registry.EnvironmentActive, Phase: workflow.EnvCreate,
			Step: workflow.EnvCreate.Step(), Area: j.Settings.Area, CreatedAt: now, LastUsedAt: now})
		return nil
	})
}

// left is the run's environment as it was left, and the commit that its content goes on from. One
// that was made before the run's base commit changed is still the environment of that one.
func (w *work) left(ctx context.Context) (environment.Environment, string, error) {
	env, err := w.environment(ctx)
	var other *environment.OtherSpecError
	if !errors.As(err, &other) {
		return env, w.run.Journey.Head, err
	}
	env, err = w.Environments.Make(ctx, other.Made)
	return env, other.Made.Commit, err
}

// environment attaches to the run's environment.
func (w *work) environment(ctx context.Context) (environment.Environment, error) {
	spec := w.spec()
	if w.env != nil && w.image == spec.Image {
		return w.env, nil
	}
	env, err := w.Environments.Make(ctx, spec)
	if err != nil {
		return nil, err
	}
	w.env, w.image = env, spec.Image
	return env, nil
}

// designFiles are what tells a planner how a project is built and what it is
// meant to be, most telling first (P1, P10).
var designFiles = []string{"AGENTS.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "DESIGN.md", "docs/DESIGN.md", "README.md",
	"Makefile", "go.mod", "package.json", "pyproject.toml", "requirements.txt", "setup.py", "Pipfile", "environment.yml",
	"condaenv.yaml", "pom.xml", "build.gradle", "build.gradle.kts", "Dockerfile", "docker-compose.yml", "mise.toml",
	".tool-versions", ".devcontainer/devcontainer.json"}

// designLimit is how much of one document a planner is shown, in bytes.
const designLimit = 16 << 10

func (w *work) readDesign(ctx context.Context, o workflow.Outcome) (workflow.Event, error) {
	documents, err := w.design(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, d := range documents {
		names = append(names, path.Clean(d.Name))
	}
	return workflow.DesignFound{Outcome: o, Files: names}, nil
}

// document is a file of the project as a prompt shows it.
type document struct{ Name, Content string }

func (w *work) design(ctx context.Context) ([]document, error) {
	env, err := w.environment(ctx)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, name := range designFiles {
		content, err := env.Read(ctx, name, designLimit)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				w.Logger.Info("design document is left out", "run", w.ref.RunID, "file", name, "err", err)
			}
			continue
		}
		documents = append(documents, document{name, string(content)})
	}
	return documents, nil
}
