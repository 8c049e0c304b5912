package issue

import (
	"errors"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
)

func newIssueCleanup(a *command.Invocation) *cobra.Command {
	clean := app.IssueCleanup{}
	var orphans bool
	c := &cobra.Command{
		Use: "cleanup --orphans",
		RunE: func(c *cobra.Command, _ []string) error {
			if !orphans {
				return &problem.Error{Err: errors.New("what to clean up is not said"), Hint: "signalbox issue cleanup --orphans", Code: problem.Usage}
			}
			cleaned := []app.CleanedIssue{}
			clean.Tell = func(i app.CleanedIssue) { cleaned = append(cleaned, i) }
			err := app.CleanIssues(c.Context(), a.Opener, &clean)
			if a.JSON {
				return errors.Join(a.PrintJSON(cleaned), err)
			}
			for _, i := range cleaned {
				display.PrintCleaned(a, i)
			}
			return err
		},
	}
	c.Flags().BoolVar(&orphans, "orphans", false, "the records without a folder in .worktrees")
	c.Flags().BoolVar(&clean.All, "all", false, "also complete and error of the last 7 days")
	c.Flags().BoolVarP(&clean.Dry, "dry-run", "n", false, "only say what would be removed")
	return c
}
