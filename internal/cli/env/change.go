package env

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// entryChanges are the commands that do one thing to an entry of environments.json: their first argument names the entry.
var entryChanges = []struct {
	use    string
	args   cobra.PositionalArgs
	change func(a *command.Invocation, e *registry.Environment, args []string, now time.Time) error
}{
	{"touch ENV_ID", cobra.ExactArgs(1), func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
		e.Touch(now)
		return nil
	}},
	{"mark-merged ENV_ID", cobra.ExactArgs(1), func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
		e.MarkMerged(now)
		return nil
	}},
	{"mark-abandoned ENV_ID", cobra.ExactArgs(1), func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
		return e.MarkAbandoned(now)
	}},
	{"unblock ENV_ID", cobra.ExactArgs(1), func(a *command.Invocation, e *registry.Environment, _ []string, _ time.Time) error {
		if !e.Unblock() {
			a.Warn("it was not blocked")
		}
		return nil
	}},
	{"add-finding ENV_ID FINDING", cobra.ExactArgs(2), func(_ *command.Invocation, e *registry.Environment, args []string, _ time.Time) error {
		_, err := e.AddFinding(args[1])
		return err
	}},
	{"resolve-finding ENV_ID FINDING", cobra.ExactArgs(2), func(_ *command.Invocation, e *registry.Environment, args []string, _ time.Time) error {
		_, err := e.ResolveFinding(args[1])
		return err
	}},
	{"clear-findings ENV_ID", cobra.ExactArgs(1), func(_ *command.Invocation, e *registry.Environment, _ []string, _ time.Time) error {
		e.ClearFindings()
		return nil
	}},
	{"update-pr ENV_ID PR", cobra.ExactArgs(2), func(_ *command.Invocation, e *registry.Environment, args []string, now time.Time) error {
		number, err := parseNumber("a pull request", args[1])
		if err != nil {
			return err
		}
		return e.UpdatePR(number, now)
	}},
	{"set-phase ENV_ID [PHASE] STEP", cobra.RangeArgs(2, 3), func(a *command.Invocation, e *registry.Environment, args []string, now time.Time) error {
		phase, fixed, err := registry.ParsePosition(args[1:]...)
		if err != nil {
			return err
		}
		if fixed {
			a.Mended("phase "+args[1], []string{"the number of " + args[2] + " is derived from its name"})
		}
		return e.SetPhase(phase, now)
	}},
}

func newEnvChanges(a *command.Invocation) (all []*cobra.Command) {
	for _, x := range entryChanges {
		c := &cobra.Command{Use: x.use, Args: x.args, RunE: func(c *cobra.Command, args []string) error {
			return changeEnvironments(c, a, args[0], func(doc *registry.Environments, now time.Time) error {
				e, err := doc.Find(args[0])
				if err != nil {
					return err
				}
				return x.change(a, e, args, now)
			})
		}}
		var steps []string
		if c.Name() == "set-phase" {
			for _, row := range workflow.Positions {
				steps = append(steps, string(row.Step))
			}
		}
		c.ValidArgsFunction = offerEnvironments(a, steps...)
		all = append(all, c)
	}
	return all
}

func newEnvAdd(a *command.Invocation) *cobra.Command {
	var area string
	c := &cobra.Command{
		Use: "add ENV_ID ISSUE BRANCH TITLE", Args: cobra.ExactArgs(4), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			issue, err := parseNumber("an issue", args[1])
			if err != nil {
				return err
			}
			entry := registry.Environment{EnvID: args[0], IssueNumber: issue, Branch: args[2], Title: args[3], Area: area}
			return changeEnvironments(c, a, args[0], func(doc *registry.Environments, now time.Time) error { return doc.Register(entry, now) })
		},
	}
	c.Flags().StringVar(&area, "area", "", "part of the project: backend, frontend, …")
	return c
}

func newEnvBlock(a *command.Invocation) *cobra.Command {
	var reasons []string
	for _, reason := range registry.BlockedReasons {
		reasons = append(reasons, string(reason))
	}
	var details string
	c := &cobra.Command{
		Use: "block ENV_ID REASON DESCRIPTION [SUGGESTED_ACTION]", Args: cobra.RangeArgs(3, 4), ValidArgsFunction: offerEnvironments(a, reasons...),
		RunE: func(c *cobra.Command, args []string) error {
			block := workflow.Blocked{Reason: workflow.BlockedReason(args[1]), Description: args[2]}
			if len(args) == 4 {
				block.SuggestedAction = args[3]
			}
			if err := json.Unmarshal([]byte(details), &block.Context); err != nil {
				return command.UsageError(`for instance --context '{"points": ["ids"]}'`, "--context is no JSON object: %w", err)
			}
			return changeEnvironments(c, a, args[0], func(doc *registry.Environments, now time.Time) error {
				e, err := doc.Find(args[0])
				if err != nil {
					return err
				}
				return e.Block(block, now)
			})
		},
	}
	c.Flags().StringVar(&details, "context", "{}", "more facts, as a JSON object")
	return c
}

// changeEnvironments performs one operation on environments.json and shows the entry with this id afterwards.
func changeEnvironments(c *cobra.Command, a *command.Invocation, id string, change func(*registry.Environments, time.Time) error) error {
	after, err := environments.Change(c.Context(), a.Opener, id, change)
	if err != nil {
		return err
	}
	if after.Run != nil {
		a.Warn("run %s is alive (pid %d) and overwrites this entry at its next transition", after.Run.Ref(), after.Holder.PID)
	}
	return a.Show(after.Environment, func() {
		e := &after.Environment
		line := fmt.Sprintf("%s: issue #%d, %s, phase %d %s", e.EnvID, e.IssueNumber, e.Status, e.Phase, e.Step)
		if e.PRNumber != nil {
			line += fmt.Sprintf(", pull request %d", *e.PRNumber)
		}
		if n := len(e.PendingIssues); n > 0 {
			line += ", " + commandline.Count(n, "open finding")
		}
		a.Print("%s\n", redact.Line(line, 500))
	})
}
