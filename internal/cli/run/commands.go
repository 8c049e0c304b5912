// Package run holds the commands that work on requests and their runs: run, status, list, logs, diff, watch and the orders to a
// run, from approve to retry.
package run

import (
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/workflow"
)

// Commands returns the commands that work on requests and their runs. Each offers a shell the numbers, with titles, that it takes.
func Commands(a *command.Invocation) []*cobra.Command {
	waits := func(l app.Listing) bool {
		return l.State == workflow.NeedsInput && l.Phase == string(workflow.ApprovalWait.Step())
	}
	completions := map[string]cobra.CompletionFunc{
		"run":     command.Requests(a),
		"status":  command.Runs(a, command.AnyState, false),
		"logs":    completeLogs(a),
		"diff":    command.Runs(a, command.AnyState, false),
		"watch":   command.Runs(a, command.AnyState, true),
		"resume":  command.Runs(a, command.StateIs(workflow.NeedsInput, workflow.Running, workflow.Queued), false),
		"retry":   command.Runs(a, command.StateIs(workflow.Failed), false),
		"stop":    command.Runs(a, func(l app.Listing) bool { return !l.State.Final() }, false),
		"approve": command.Runs(a, waits, false),
		"reject":  command.Runs(a, waits, false),
		"sync":    command.Runs(a, command.StateIs(workflow.NeedsInput, workflow.Failed), false),
		"answer":  command.Runs(a, command.StateIs(workflow.Running), false),
		"note":    command.Runs(a, command.AnyState, false),
	}
	all := []*cobra.Command{newNew(a), newRun(a), newStatus(a), newList(a), newLogs(a), newDiff(a), newWatch(a), newResume(a), newRetry(a), newStop(a),
		newApprove(a), newReject(a), newSync(a), newAnswer(a), newNote(a)}
	for _, c := range all {
		c.ValidArgsFunction = completions[c.Name()]
	}
	return all
}

// completeLogs offers runs, and then the logs of the one given.
func completeLogs(a *command.Invocation) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return command.Runs(a, command.AnyState, false)(c, args, begun)
		}
		p, found, err := a.OpenRun(c.Context(), args[0])
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, err := p.Logs(found.Ref).Names()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
