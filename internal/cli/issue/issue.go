// Package issue holds "signalbox issue": the published status of issues.
package issue

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "issue",
	}
	c.AddCommand(newIssueSet(a), newIssueGet(a), newIssueShow(a), newIssueError(a), newIssueList(a), newIssueRemove(a),
		newIssueOrphans(a), newIssueCleanup(a), newIssueShellFunctions(a))
	return c
}

// issueStatus reads the record of the issue that arg names; found is false where there is none.
func issueStatus(ctx context.Context, a *command.Invocation, arg string) (status registry.IssueStatus, found bool, err error) {
	n, err := app.ParseIssue(arg)
	if err != nil {
		return status, false, err
	}
	return app.IssueStatus(ctx, a.Opener, n)
}

// printText prints text from outside as it is to a program, and harmless to a person.
func printText(a *command.Invocation, text string) {
	if a.Terminal {
		text = redact.Clean(text)
	}
	a.Print("%s\n", text)
}

// offerIssues completes the number of an issue that has a status.
func offerIssues(a *command.Invocation, c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, err := a.Opener.OpenStoreToRead(c.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = s.Close() }()
	all, err := s.IssueStatuses(c.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return begunWith(begun, all), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func begunWith(begun string, all []store.IssueStatusEntry) (words []cobra.Completion) {
	for _, entry := range all {
		if number := strconv.Itoa(entry.Issue); strings.HasPrefix(number, begun) {
			words = append(words, cobra.CompletionWithDesc(number, string(entry.Status.Status)))
		}
	}
	return words
}
