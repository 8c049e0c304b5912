package env

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
)

func newEnvRemove(a *command.Invocation) *cobra.Command {
	var force, all bool
	c := &cobra.Command{
		Use: "remove ENV_ID",
		Args: func(c *cobra.Command, args []string) error {
			if all {
				if len(args) > 0 {
					return &problem.Error{Err: errors.New("an id and --all exclude each other"), Hint: command.UsageHint(c), Code: problem.Usage}
				}
				return nil
			}
			return cobra.ExactArgs(1)(c, args)
		},
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			return removeEnvironments(c.Context(), a, strings.Join(args, ""), all, force)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every environment that a run made and that nobody works in")
	c.Flags().BoolVar(&force, "force", false, "also when unrecorded work in it is too large to keep; that work is lost")
	return c
}

// removeEnvironments removes the environment with this id, or with all what runs made: one that is in use then stays and is named.
func removeEnvironments(ctx context.Context, a *command.Invocation, id string, all, force bool) (err error) {
	e, err := environments.Open(ctx, a.Opener, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if !all {
		removed, err := e.Remove(ctx, id, force)
		switch {
		case err != nil:
			return err
		case a.JSON:
			return a.PrintJSON([]environments.Removed{removed})
		}
		printRemoved(a, removed)
		return nil
	}
	var worst error
	gone := []environments.Removed{}
	e.RemoveAll(ctx, force, func(removed environments.Removed, err error) {
		if err != nil {
			a.ShowError(err)
			worst = &problem.Error{Code: problem.CodeOf(err)}
			return
		}
		gone = append(gone, removed)
		if !a.JSON {
			printRemoved(a, removed)
		}
	})
	switch {
	case a.JSON:
		return errors.Join(a.PrintJSON(gone), worst)
	case len(gone) == 0 && worst == nil:
		a.Say("no run has an environment here")
	}
	return worst
}

func printRemoved(a *command.Invocation, r environments.Removed) {
	if !r.OfRun {
		a.Print("removed the entry of %s; the environment itself was not made here and is left alone\n", r.EnvID)
		return
	}
	a.Print("removed %s; %s\n", r.EnvID, keptOn(r.KeptRef))
}

func keptOn(ref string) string {
	if ref == "" {
		return "there was no work in it to keep"
	}
	return "its work is on " + ref
}
