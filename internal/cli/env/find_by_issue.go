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
		Use:   "find-by-issue ISSUE",
		Short: "Find the environments of an issue, best one first",
		Long: "Print the environments of an issue as \"signalbox env list\" does, or as a JSON list: first what is not over, and of\n" +
			"that what was used last.",
		Example: "  signalbox env find-by-issue 42\n  signalbox env find-by-issue 42 --json | jq -r '.[0].env_id'",
		Args:    cobra.ExactArgs(1),
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
