// Package issue holds "signalbox issue": the published status of issues.
package issue

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{Use: "issue"}
	c.AddCommand(newIssueReads(a)...)
	c.AddCommand(newIssueSet(a), newIssueList(a), newIssueRemove(a), newIssueOrphans(a), newIssueCleanup(a), newIssueShellFunctions(a))
	return c
}

// newIssueReads returns get, show and error, which print the status of one issue.
func newIssueReads(a *command.Invocation) (all []*cobra.Command) {
	for _, x := range []struct {
		use  string
		show func(status registry.IssueStatus, found bool) error
	}{
		{"get ISSUE", func(status registry.IssueStatus, found bool) error {
			if !found && a.Terminal { // a script has its answer
				a.Say(fmt.Sprintf("nothing is written about issue %d; see what there is: signalbox issue list", status.Issue))
			}
			return a.Show(status.Status, func() { a.Print("%s\n", status.Status) })
		}},
		{"show ISSUE", func(status registry.IssueStatus, found bool) error {
			if !found {
				return &problem.Error{Err: fmt.Errorf("nothing is written about issue %d", status.Issue), Code: problem.NotFound,
					Hint: fmt.Sprintf("see what there is: signalbox issue list; or write it: signalbox issue set %d running", status.Issue)}
			}
			return a.Show(status, func() { display.PrintIssueStatus(a, status) })
		}},
		{"error ISSUE", func(status registry.IssueStatus, _ bool) error {
			return a.Show(status.ErrorMessage, func() {
				switch text := status.ErrorMessage; {
				case text != "" && a.Terminal:
					a.Print("%s\n", redact.Clean(text))
				case text != "":
					a.Print("%s\n", text)
				}
			})
		}},
	} {
		all = append(all, &cobra.Command{
			Use: x.use, Args: cobra.ExactArgs(1), ValidArgsFunction: offerIssues(a),
			RunE: func(c *cobra.Command, args []string) error {
				n, err := app.ParseIssue(args[0])
				if err != nil {
					return err
				}
				status, found, err := app.IssueStatus(c.Context(), a.Opener, n)
				if err != nil {
					return err
				}
				return x.show(status, found)
			},
		})
	}
	return all
}

// offerIssues completes the number of an issue that has a status, and a status after it where the command takes one.
func offerIssues(a *command.Invocation) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) == 1 && c.Name() == "set" {
			return []cobra.Completion{"running", "complete", "error"}, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := a.Opener.OpenStoreToRead(c.Context())
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer func() { _ = s.Close() }()
		all, err := s.IssueStatuses(c.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, entry := range all {
			if number := strconv.Itoa(entry.Issue); strings.HasPrefix(number, begun) {
				words = append(words, cobra.CompletionWithDesc(number, string(entry.Status.Status)))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func newIssueSet(a *command.Invocation) *cobra.Command {
	var session string
	c := &cobra.Command{
		Use: "set ISSUE STATUS [MESSAGE]", Args: cobra.RangeArgs(2, 3), ValidArgsFunction: offerIssues(a),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := app.ParseIssue(args[0])
			if err != nil {
				return err
			}
			word, err := registry.ParseIssueStatus(args[1])
			if err != nil {
				return command.UsageError("see \"signalbox issue set --help\"", "%w", err)
			}
			if !c.Flags().Changed("session") {
				session = registry.SessionName(n)
			}
			message := strings.Join(args[2:], "")
			if err := word.Check(message); err != nil {
				return command.UsageError(fmt.Sprintf("signalbox issue set %d error \"the tests failed\"", n), "%w", err)
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
	}
	c.Flags().StringVar(&session, "session", "", "the session's name instead of signalbox-issue-<n>")
	return c
}

func newIssueList(a *command.Invocation) *cobra.Command {
	var status string
	c := &cobra.Command{
		Use: "list",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("status") {
				if _, err := registry.ParseIssueStatus(status); err != nil {
					return command.UsageError("see \"signalbox issue list --help\"", "%w", err)
				}
			}
			return listIssues(c.Context(), a, registry.IssueStatusWord(status))
		},
	}
	c.Flags().StringVar(&status, "status", "", "only the numbers of issues that are running, complete or error")
	return c
}

func listIssues(ctx context.Context, a *command.Invocation, only registry.IssueStatusWord) error {
	entries, err := app.IssueStatuses(ctx, a.Opener)
	var listed []registry.IssueStatus
	var lines []byte // thousands of them are printed at once
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

func newIssueRemove(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "remove ISSUE", Args: cobra.ExactArgs(1), ValidArgsFunction: offerIssues(a),
		RunE: func(c *cobra.Command, args []string) error {
			n, err := app.ParseIssue(args[0])
			if err != nil {
				return err
			}
			if err := app.RemoveIssue(c.Context(), a.Opener, n); err != nil || !a.JSON {
				return err
			}
			return a.PrintJSON(map[string]int{"removed": n})
		},
	}
}

func newIssueOrphans(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "orphans",
		RunE: func(c *cobra.Command, _ []string) error {
			orphans, err := app.OrphanedIssues(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			return a.Show(orphans, func() {
				for _, n := range orphans {
					a.Print("%d\n", n)
				}
			})
		},
	}
}

func newIssueCleanup(a *command.Invocation) *cobra.Command {
	clean := app.IssueCleanup{}
	var orphans bool
	c := &cobra.Command{
		Use: "cleanup --orphans",
		RunE: func(c *cobra.Command, _ []string) error {
			if !orphans {
				return command.UsageError("signalbox issue cleanup --orphans", "say what to clean up")
			}
			cleaned := []app.CleanedIssue{}
			clean.Tell = func(i app.CleanedIssue) { cleaned = append(cleaned, i) }
			err := app.CleanIssues(c.Context(), a.Opener, &clean)
			return errors.Join(a.Show(cleaned, func() {
				for _, i := range cleaned {
					display.PrintCleaned(a, i)
				}
			}), err)
		},
	}
	c.Flags().BoolVar(&orphans, "orphans", false, "the records without a folder in .worktrees")
	c.Flags().BoolVar(&clean.All, "all", false, "also complete and error of the last 7 days")
	c.Flags().BoolVarP(&clean.Dry, "dry-run", "n", false, "only say what would be removed")
	return c
}

//go:embed lib/status.sh
var shellFunctions string

func newIssueShellFunctions(a *command.Invocation) *cobra.Command {
	return &cobra.Command{Use: "shell-functions", RunE: func(*cobra.Command, []string) error {
		a.Print("%s", shellFunctions)
		return nil
	}}
}
