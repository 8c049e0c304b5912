package issue

import (
	"fmt"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
)

func newIssueSet(a *command.Invocation) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use:  "set ISSUE STATUS [MESSAGE]",
		Args: cobra.RangeArgs(2, 3),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := app.ParseIssue(args[0])
			if err != nil {
				return err
			}
			word, err := registry.ParseIssueStatus(args[1])
			if err != nil {
				return &problem.Error{Err: err, Hint: "see \"signalbox issue set --help\"", Code: problem.Usage}
			}
			if !c.Flags().Changed("session") {
				session = registry.SessionName(n)
			}
			message := ""
			if len(args) == 3 {
				message = args[2]
			}
			if err := word.Check(message); err != nil {
				return &problem.Error{Err: err, Hint: fmt.Sprintf("signalbox issue set %d error \"the tests failed\"", n), Code: problem.Usage}
			}
			if err := app.SetIssue(c.Context(), a.Opener, n, word, session, message); err != nil || !a.JSON {
				return err
			}
			status, _, err := app.IssueStatus(c.Context(), a.Opener, n)
			if err != nil {
				return err
			}
			return a.PrintJSON(status)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return []cobra.Completion{"running", "complete", "error"}, cobra.ShellCompDirectiveNoFileComp
			}
			return offerIssues(a, c, args, begun)
		},
	}
	c.Flags().StringVar(&session, "session", "", "the session's name instead of signalbox-issue-<n>")
	return c
}
