// Package run holds the commands that work on requests and their runs: run, status, list, logs, diff, watch and the orders to a
// run, from approve to retry.
package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Commands returns the commands that work on requests and their runs. Each completes the numbers, with titles, that it takes.
func Commands(a *command.Invocation) []*cobra.Command {
	waits := func(l app.Listing) bool {
		return l.State == workflow.NeedsInput && l.Phase == string(workflow.ApprovalWait.Step())
	}
	completions := map[string]cobra.CompletionFunc{
		"run":     command.Requests(a),
		"status":  command.Runs(a, nil, false),
		"logs":    completeLogs(a),
		"diff":    command.Runs(a, nil, false),
		"watch":   command.Runs(a, nil, true),
		"resume":  command.Runs(a, command.StateIs(workflow.NeedsInput, workflow.Running, workflow.Queued), false),
		"retry":   command.Runs(a, command.StateIs(workflow.Failed), false),
		"stop":    command.Runs(a, func(l app.Listing) bool { return !l.State.Final() }, false),
		"approve": command.Runs(a, waits, false),
		"reject":  command.Runs(a, waits, false),
		"sync":    command.Runs(a, command.StateIs(workflow.NeedsInput, workflow.Failed), false),
		"answer":  command.Runs(a, command.StateIs(workflow.Running), false),
		"note":    command.Runs(a, nil, false),
	}
	all := append(newOrders(a), newNew(a), newRun(a), newStatus(a), newList(a), newLogs(a), newDiff(a), newWatch(a), newAnswer(a), newNote(a), newCost(a))
	for _, c := range all {
		c.ValidArgsFunction = completions[c.Name()]
	}
	return all
}

func newRun(a *command.Invocation) *cobra.Command {
	c := &cobra.Command{
		Use: "run REQUEST...", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return Requests(c.Context(), a, args) },
	}
	command.AddRunFlags(a, c)
	c.Flags().StringSliceVar(&a.Opener.Overrides.Workflow, "workflow", nil, "full, simple, or a list of phases")
	c.Flags().StringVar(&a.Opener.Overrides.Approve, "approve", "", "manual, auto or forge")
	c.Flags().StringVar(&a.Opener.Overrides.Base, "base", "", "branch to merge into")
	return c
}

// Requests runs requests and shows their progress and outcome.
func Requests(ctx context.Context, a *command.Invocation, refs []string) error {
	p, err := a.OpenTrusted(ctx)
	if err != nil {
		return err
	}
	done, err := display.Watching(p.Invocation, len(refs) > 1, func(watch app.Watcher) ([]app.Result, error) { return p.StartRuns(ctx, refs, watch) })
	if err != nil {
		return err
	}
	return display.PrintOutcome(p, done)
}

func newStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "status [RUN]", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return list(c.Context(), a, true)
			}
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			p.WarnOfConfig()
			at, err := p.Status(c.Context(), args[0])
			if err != nil {
				return err
			}
			if at.Issue != nil {
				return a.Show(at.Issue, func() { display.PrintIssueStatus(a, *at.Issue) })
			}
			// The run's document, with the facts that every front end derives from it.
			shown := struct {
				workflow.Run
				Interrupted bool                     `json:"interrupted"`
				Phases      []registry.PhaseProgress `json:"progress_phases"`
				SetUp       *registry.SetUpProgress  `json:"setup_progress"`
				HandOver    workflow.HandOver        `json:"environment_handover"`
			}{at.Run, at.Interrupted, registry.PhasesOf(&at.Run), registry.SetUpOf(&at.Run), at.Run.Details.HandOver()}
			return a.Show(shown, func() { display.PrintRun(c.Context(), p, &at.Run, at.Holder, at.Held) })
		},
	}
}

func list(ctx context.Context, a *command.Invocation, runsOnly bool) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	p.WarnOfConfig()
	lines, broken, err := p.List(ctx, runsOnly)
	if broken != nil {
		p.ShowError(wire.Explained(broken)) // the others are listed
	}
	if err != nil {
		return err
	}
	return p.Show(lines, func() {
		if len(lines) == 0 && broken == nil {
			p.Print("nothing here yet; write a request: signalbox new \"what should be different\", then: signalbox run 1\n")
		}
		for _, l := range lines {
			printListing(p, l)
		}
	})
}

func printListing(p *command.Project, l app.Listing) {
	switch number := "#" + strconv.Itoa(l.Number); {
	case l.Problem != "":
		p.Print("%-6s %s  %s\n", "?", p.Paint(command.Red, "broken"), l.RequestID+"/"+l.RunID+": "+l.Problem+"; what to do: signalbox status "+l.RequestID)
	case l.Closed:
		p.Print("%-6s %-12s %-15s %s\n", number, "closed", "", p.Paint(command.Faint, l.Title))
	case l.State == "":
		p.Print("%-6s %-12s %-15s %s\n", number, "new", "", l.Title)
	default:
		label := display.State(p.Invocation, l.State) + strings.Repeat(" ", max(0, 12-displaywidth.String(display.Label(p.Invocation, l.State))))
		if l.Interrupted {
			label = p.Paint(command.Yellow, display.Interrupted) + " "
		}
		unsandboxed := ""
		if l.Unsandboxed {
			unsandboxed = p.Paint(command.Yellow, "unsandboxed") + "  "
		}
		p.Print("%-6s %s %-15s %s  %s%s\n", number, label, l.Phase, l.Title, unsandboxed, p.Paint(command.Faint, l.Message))
	}
}

func newLogs(a *command.Invocation) *cobra.Command {
	var follow, list, raw bool
	c := &cobra.Command{
		Use: "logs RUN [LOG]", Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			p, found, err := a.OpenRun(c.Context(), args[0])
			if err != nil {
				return err
			}
			l := p.Logs(found.Ref)
			l.Raw = raw
			switch {
			case len(args) == 2 && !list:
				return l.Read(c.Context(), args[1], follow, display.ShowLog(p))
			case !list:
				return l.Newest(c.Context(), follow, display.ShowLog(p))
			}
			names, err := l.Names()
			if err != nil {
				return err
			}
			return p.Show(names, func() {
				for _, name := range names {
					p.Print("%s\n", redact.Line(name, 200))
				}
			})
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "continue until the run stops")
	c.Flags().BoolVar(&raw, "raw", false, "print the output of an agent's program, not its meaning")
	c.Flags().BoolVarP(&list, "list", "l", false, "list the run's logs, oldest first")
	return c
}

// completeLogs completes runs, and then the logs of the run.
func completeLogs(a *command.Invocation) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return command.Runs(a, nil, false)(c, args, begun)
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

func newNote(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "note RUN TEXT", Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			return p.Note(c.Context(), args[0], args[1])
		},
	}
}

func newWatch(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use: "watch [RUN...]", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.Open(c.Context())
			if err != nil {
				return err
			}
			watched, err := p.Watched(c.Context(), args, func(ref string) {
				p.Say(fmt.Sprintf("request %s has no run yet; waiting for one (start it: signalbox run %[1]s)", redact.Line(ref, 100)))
			})
			if err != nil || c.Context().Err() != nil {
				return err
			}
			if len(watched) == 0 {
				p.Print("no run is under way; start one: signalbox run REQUEST\n")
				return nil
			}
			return display.Follow(c.Context(), p, watched)
		},
	}
}
