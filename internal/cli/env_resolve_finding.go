package cli

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

func newEnvResolveFinding(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "resolve-finding ENV_ID FINDING",
		Short: "Take out a review finding that is resolved",
		Long: "Take a finding out of pending_issues. FINDING is its text, or the beginning that only one has. Places in the list are\n" +
			"no names: another process may change them meanwhile.",
		Example:           "  signalbox env resolve-finding abc-123 \"parse.go: reads past the end\"\n  signalbox env resolve-finding abc-123 parse.go",
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.offerFindings,
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeEnvironment(c.Context(), args[0], func(e *workflow.Environment, _ time.Time) error {
				_, err := e.ResolveFinding(args[1])
				return err
			})
		},
	}
}

func (a *app) offerFindings(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) == 1 {
		if doc, err := a.environments(c.Context()); err == nil {
			if e, err := doc.Find(args[0]); err == nil {
				for _, finding := range e.PendingIssues {
					words = append(words, redact.Line(finding, 400))
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return a.offerEnvironments()(c, args, begun)
}
