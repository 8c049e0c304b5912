package env

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/environment"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newEnvRemove(a *command.Invocation) *cobra.Command {
	var force, all bool
	c := &cobra.Command{
		Use:   "remove ENV_ID",
		Short: "Delete an environment and its entry; its work is kept on a ref",
		Long: "Delete a run's environment and its entry, after everything in it is on a ref below refs/signalbox/kept/. One in which\n" +
			"a run is alive is refused. The beginning of an id is enough where no other has it. Of an environment that another tool made only the entry is removed: delete the environment\n" +
			"with that tool first.\n\n" +
			"For root the folders of an environment are mounted, so they have to be removed before the project's folder can be\n" +
			"deleted: --all removes those of all runs. A run that waits makes its own again when it goes on.",
		Example: "  signalbox env remove abc-123\n  signalbox env remove --all",
		Args: func(c *cobra.Command, args []string) error {
			if all {
				return cobra.NoArgs(c, args)
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			if all {
				return removeEnvironments(c.Context(), a, force)
			}
			return removeEnvironment(c.Context(), a, args[0], force)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every environment that a run made and that nobody works in")
	c.Flags().BoolVar(&force, "force", false, "also when unrecorded work in it is too large to keep; that work is lost")
	return c
}

// removeEnvironments removes all that runs made. One that is in use stays and is named.
func removeEnvironments(ctx context.Context, a *command.Invocation, force bool) error {
	s, doc, err := openEnvironments(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var worst error
	for _, e := range doc.Environments {
		run, err := runOfEnvironment(ctx, s, e.EnvID)
		if run == nil && err == nil {
			continue
		}
		if err == nil {
			err = removeOfRunAndSay(ctx, a, run, force)
		}
		if err != nil {
			a.ShowError(wire.Explained(err))
			worst = &problem.Error{Code: problem.CodeOf(err)}
		}
	}
	return worst
}

func removeOfRunAndSay(ctx context.Context, a *command.Invocation, run *workflow.Run, force bool) error {
	kept, err := removeOfRun(ctx, a, run, force)
	if err == nil {
		a.Print("removed %s; %s\n", run.Details.EnvID, keptOn(kept))
	}
	return err
}

func removeEnvironment(ctx context.Context, a *command.Invocation, id string, force bool) error {
	s, doc, err := openEnvironments(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	id, err = fullID(&doc, id)
	if err == nil {
		_, err = doc.Find(id)
	}
	if err != nil {
		return environmentProblem(id, err)
	}
	run, err := runOfEnvironment(ctx, s, id)
	if err != nil {
		return wire.Explained(err)
	}
	if run != nil {
		return removeOfRunAndSay(ctx, a, run, force)
	}
	if err := s.Environments().Update(ctx, func(doc *registry.Environments) error { return doc.Remove(id) }); err != nil {
		return environmentProblem(id, err)
	}
	a.Print("removed the entry of %s; the environment itself was not made here and is left alone\n", id)
	return nil
}

// removeOfRun deletes a run's environment and returns the ref that its work is on.
func removeOfRun(ctx context.Context, a *command.Invocation, run *workflow.Run, force bool) (kept string, err error) {
	p, err := a.Open(ctx)
	if err != nil {
		return "", err
	}
	kept, err = p.Places().Remove(ctx, workflow.RefOf(run), force)
	id := run.Details.EnvID
	var held *store.HeldError
	switch {
	case errors.As(err, &held):
		err = &problem.Error{Err: fmt.Errorf("environment %s is in use by run %s: %s", id, run.Ref(), app.Holder(held.Holder)),
			Hint: "stop it first: signalbox stop " + run.Ref(), Code: problem.Held}
	case errors.Is(err, environment.ErrTooLarge):
		err = &problem.Error{Err: err, Hint: "clear out " + run.Details.EnvPath + ", or lose what is unrecorded there: signalbox env remove --force " + id}
	}
	return kept, wire.Explained(err)
}

func keptOn(ref string) string {
	if ref == "" {
		return "there was no work in it to keep"
	}
	return "its work is on " + ref
}

// runOfEnvironment is the run that made the environment; nil if none did.
func runOfEnvironment(ctx context.Context, s *store.Store, envID string) (*workflow.Run, error) {
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r := &runs[i]
		if r.Err == nil && r.Run.Details.EnvID == envID {
			return &r.Run, nil
		}
		if r.Err != nil && strings.HasSuffix(envID, r.Ref.RunID) {
			return nil, r.Err
		}
	}
	return nil, nil
}
