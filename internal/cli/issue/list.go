package issue

import (
	"context"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
)

func newIssueList(a *command.Invocation) *cobra.Command {
	var only string
	c := &cobra.Command{
		Use: "list",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("status") {
				if _, err := registry.ParseIssueStatus(only); err != nil {
					return &problem.Error{Err: err, Hint: "see \"signalbox issue list --help\"", Code: problem.Usage}
				}
			}
			return listIssues(c.Context(), a, registry.IssueStatusWord(only))
		},
	}
	c.Flags().StringVar(&only, "status", "", "only the numbers of issues that are running, complete or error")
	return c
}

func listIssues(ctx context.Context, a *command.Invocation, only registry.IssueStatusWord) error {
	entries, err := app.IssueStatuses(ctx, a.Opener)
	var listed []registry.IssueStatus
	var lines []byte
	for _, entry := range entries {
		switch {
		case entry.Err != nil:
			err = errors.Join(err, entry.Err)
		case only != "" && entry.Status.Status != only:
		case a.JSON:
			listed = append(listed, entry.Status)
		case only != "":
			lines = append(strconv.AppendInt(lines, int64(entry.Issue), 10), '\n')
		default:
			lines = append(strconv.AppendInt(lines, int64(entry.Issue), 10), "\t"+string(entry.Status.Status)+"\n"...)
		}
	}
	a.Print("%s", lines)
	if a.JSON {
		err = errors.Join(err, a.PrintJSON(listed))
	}
	return wire.Explained(err)
}
