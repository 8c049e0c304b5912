package run

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/forge"
)

func newList(a *command.Invocation) *cobra.Command {
	var onForge bool
	var q forge.Query
	c := &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if onForge {
				return listIssues(c.Context(), a, q)
			}
			for _, filter := range filters {
				if c.Flags().Changed(filter) {
					return command.UsageError("signalbox list --forge --"+filter+" …", "--%s selects issues of a forge", filter)
				}
			}
			return list(c.Context(), a, false)
		},
	}
	c.Flags().BoolVar(&onForge, "forge", false, "list the open issues of the forge instead")
	c.Flags().StringSliceVar(&q.Labels, "label", nil, "with --forge: issues with this label; repeat it for more")
	c.Flags().StringVar(&q.Milestone, "milestone", "", "with --forge: issues of this milestone")
	c.Flags().StringVar(&q.Assignee, "assignee", "", "with --forge: issues assigned to this account")
	c.Flags().StringVar(&q.Text, "query", "", "with --forge: issues that the forge's own search finds")
	for _, filter := range filters {
		_ = c.RegisterFlagCompletionFunc(filter, cobra.NoFileCompletions)
	}
	a.AddTrustFlag(c)
	return c
}

// filters are the flags that select issues of a forge.
var filters = []string{"label", "milestone", "assignee", "query"}

func listIssues(ctx context.Context, a *command.Invocation, q forge.Query) error {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	issues, err := p.ForgeIssues(ctx, q)
	if err != nil {
		return err
	}
	return p.Show(issues, func() {
		if len(issues) == 0 {
			p.Print("no open issue matches\n")
		}
		for _, issue := range issues {
			printIssue(p, issue)
		}
	})
}

func printIssue(p *command.Project, issue app.ForgeIssue) {
	state, labels := "new", ""
	if issue.State != "" {
		state = display.Label(p.Invocation, issue.State)
	}
	if len(issue.Labels) > 0 {
		labels = "  " + p.Paint(command.Faint, strings.Join(issue.Labels, ", "))
	}
	p.Print("#%-5d %-12s %s%s\n", issue.Number, state, issue.Title, labels)
}
