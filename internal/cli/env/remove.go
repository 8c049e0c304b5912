package env

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvRemove(a *command.Invocation) *cobra.Command {
	var force, all bool
	c := &cobra.Command{
		Use: "remove ENV_ID", ValidArgsFunction: offerEnvironments(a),
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return command.UsageError(command.UsageHint(c), "an id and --all exclude each other")
			case all:
				return nil
			}
			return cobra.ExactArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return removeEnvironments(c.Context(), a, strings.Join(args, ""), force)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "every environment that a run made and that isn't in use")
	c.Flags().BoolVar(&force, "force", false, "also if unrecorded work in it is too large to keep; that work is lost")
	return c
}

// removeEnvironments removes the environment with this id, or without one all that runs made: those in use stay and are named.
func removeEnvironments(ctx context.Context, a *command.Invocation, id string, force bool) (err error) {
	e, err := environments.Open(ctx, a.Opener, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var worst error
	gone := []environments.Removed{}
	take := func(r environments.Removed, err error) {
		switch {
		case err != nil:
			a.ShowError(err)
			worst = &problem.Error{Code: problem.CodeOf(err)}
			return
		case a.JSON:
		case !r.OfRun:
			a.Print("removed the entry of %s; the environment itself was not made here and is left alone\n", r.EnvID)
		default:
			a.Print("removed %s; %s\n", r.EnvID, keptOn(r.KeptRef))
		}
		gone = append(gone, r)
	}
	if id == "" {
		e.RemoveAll(ctx, force, take)
	} else {
		removed, err := e.Remove(ctx, id, force)
		if err != nil {
			return err
		}
		take(removed, nil)
	}
	switch {
	case a.JSON:
		return errors.Join(a.PrintJSON(gone), worst)
	case len(gone) == 0 && worst == nil:
		a.Say("no run has an environment here")
	}
	return worst
}

func keptOn(ref string) string {
	if ref == "" {
		return "there was no work in it to keep"
	}
	return "its work is on " + ref
}

func newEnvCleanup(a *command.Invocation) *cobra.Command {
	var dry, yes bool
	c := &cobra.Command{
		Use: "cleanup",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			e, err := environments.Open(c.Context(), a.Opener, dry)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, e.Close()) }()
			report := []environments.Cleared{}
			var worst error
			agreed := func(ctx context.Context, line *environments.Cleared) (bool, error) {
				return maybeDelete(ctx, a, line, yes)
			}
			e.CleanUp(c.Context(), dry, agreed, func(line environments.Cleared, err error) {
				if err != nil {
					a.ShowError(err)
					worst = &problem.Error{Code: problem.CodeOf(err)}
				}
				report = append(report, line)
				if !a.JSON {
					printCleared(a, &line, dry)
				}
			})
			switch {
			case a.JSON:
				return errors.Join(a.PrintJSON(report), worst)
			case len(report) == 0:
				a.Print("nothing to clean up\n")
			}
			return worst
		},
	}
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be done")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "answer every question with yes")
	return c
}

// maybeDelete asks the person about an environment that can't be proven to be wanted gone.
func maybeDelete(ctx context.Context, a *command.Invocation, line *environments.Cleared, yes bool) (bool, error) {
	switch {
	case yes:
		return true, nil
	case !a.CanAsk():
		return false, &problem.Error{Err: fmt.Errorf("environment %s stays, because it can't be asked about here: %s", redact.Line(line.EnvID, 200), line.Unproven),
			Hint: "let all go that is named here: signalbox env cleanup --yes", Code: problem.NeedsInput}
	}
	a.Warn("%s (issue #%d, %s): %s", line.EnvID, line.IssueNumber, line.Why, line.Unproven)
	return a.Confirm(ctx, "Delete it?")
}

func printCleared(a *command.Invocation, line *environments.Cleared, dry bool) {
	done := line.Done
	if dry && line.Verdict == registry.ClearDelete {
		done = "would delete"
	}
	a.Print("%s %s (issue #%d): %s", done, line.EnvID, line.IssueNumber, line.Why)
	if line.Unproven != "" && line.Done != environments.Deleted {
		a.Print("; %s", line.Unproven)
	}
	if line.KeptRef != "" {
		a.Print("; %s", keptOn(line.KeptRef))
	}
	a.Print("\n")
}
