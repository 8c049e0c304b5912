package env

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
)

func newEnvFindByIssue(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "find-by-issue ISSUE",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return findEnvironments(c.Context(), a, "an issue", args[0], (*registry.Environments).ByIssue)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func findEnvironments(ctx context.Context, a *command.Invocation, what, arg string, by func(*registry.Environments, int) []registry.Environment) error {
	n, err := parseNumber(what, arg)
	if err != nil {
		return err
	}
	doc, err := environments.Read(ctx, a.Opener)
	if err != nil {
		return err
	}
	found := by(&doc, n)
	if len(found) == 0 {
		return &problem.Error{Err: fmt.Errorf("no environment is registered for %s with number %d", what, n), Code: problem.NotFound,
			Hint: "see what there is: signalbox env list"}
	}
	if a.JSON {
		return a.PrintJSON(found)
	}
	return printEnvironments(a, found)
}
