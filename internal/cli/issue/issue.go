// Package issue holds "signalbox issue": the published status of issues.
package issue

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func New(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "issue",
		Short: "Read and write the status of issues: .worktrees/.status/<issue>.json",
		Long: "One word for each issue, running, complete or error, in a file that scripts wait for. Runs write it too; these\n" +
			"commands also work without any run and outside of git.",
		Example: "  signalbox issue set 42 running\n  signalbox issue get 42\n  signalbox issue list --status error",
	}
	c.AddCommand(newIssueSet(a), newIssueGet(a), newIssueShow(a), newIssueError(a), newIssueList(a), newIssueRemove(a),
		newIssueOrphans(a), newIssueCleanup(a), newIssueShellFunctions(a))
	return c
}

// issueStatus reads one issue's record; found is false where there is none.
func issueStatus(ctx context.Context, a *command.Invocation, arg string) (status registry.IssueStatus, found bool, err error) {
	n, err := app.ParseIssue(arg)
	if err != nil {
		return status, false, err
	}
	s, err := a.Opener.OpenStoreToRead(ctx)
	if err != nil {
		return status, false, err
	}
	defer func() { _ = s.Close() }()
	status, err = s.IssueStatus(n).Load(ctx)
	if err == nil && status.Status == registry.IssueRunning && settle(ctx, a, s) {
		status, err = s.IssueStatus(n).Load(ctx)
	}
	if err == nil && status.Status == registry.IssueRunning {
		var runs map[int]workflow.Run
		if runs, err = cutOff(ctx, s); err == nil {
			status = asLeft(runs, status)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return registry.IssueStatus{Issue: n, Status: registry.IssueUnknown}, false, nil
	}
	return status, err == nil, wire.Explained(err)
}

// settle has sessions that were killed written down as such before somebody reads that they run; false
// where there are none. Who may not write reads what is there.
func settle(ctx context.Context, a *command.Invocation, s *store.Store) bool {
	names, err := s.Sessions(ctx)
	if err != nil || len(names) == 0 {
		return false
	}
	writable, err := a.Opener.OpenStore(ctx)
	if err == nil {
		err = errors.Join(app.SettleSessions(ctx, writable), writable.Close())
	}
	if err != nil {
		a.Opener.Log.Warn("look for sessions that were killed", "error", err)
	}
	return err == nil
}

// cutOff are the runs, by issue, that should move and that no process carries.
func cutOff(ctx context.Context, s *store.Store) (map[int]workflow.Run, error) {
	all, err := s.Runs(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	holders, err := s.Holders(ctx)
	if err != nil {
		return nil, err
	}
	runs := map[int]workflow.Run{}
	for _, r := range all { // the newest of each request comes last
		held := slices.ContainsFunc(holders, func(h store.Holding) bool { return h.Name == "request-"+r.Ref.RequestID })
		if r.Err == nil && !held {
			runs[r.Run.Details.Number] = r.Run
		}
	}
	return runs, nil
}

// asLeft is the status of an issue with what its run, if that was cut off, could not write any more.
func asLeft(cutOff map[int]workflow.Run, status registry.IssueStatus) registry.IssueStatus {
	if run, found := cutOff[status.Issue]; found {
		return registry.CutOff(&run, status, commandline.Line)
	}
	return status
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
