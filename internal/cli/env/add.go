package env

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/registry"
)

func newEnvAdd(a *command.Invocation) *cobra.Command {
	var area string
	c := &cobra.Command{
		Use:  "add ENV_ID ISSUE BRANCH TITLE",
		Args: cobra.ExactArgs(4),
		RunE: func(c *cobra.Command, args []string) error {
			issue, err := parseNumber("an issue", args[1])
			if err != nil {
				return err
			}
			entry := registry.Environment{EnvID: args[0], IssueNumber: issue, Branch: args[2], Title: args[3], Area: area}
			return changeEnvironments(c.Context(), a, args[0], func(doc *registry.Environments, now time.Time) error { return doc.Register(entry, now) })
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&area, "area", "", "part of the project: backend, frontend, …")
	return c
}
