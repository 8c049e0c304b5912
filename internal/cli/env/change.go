package env

import (
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

// entryChange is a command that does one thing to an entry of environments.json: its first argument names the entry.
type entryChange struct {
	use    string
	args   int
	change func(a *command.Invocation, e *registry.Environment, args []string, now time.Time) error
}

var entryChanges = []entryChange{
	{use: "touch ENV_ID", args: 1,
		change: func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
			e.Touch(now)
			return nil
		}},
	{use: "mark-merged ENV_ID", args: 1,
		change: func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
			e.MarkMerged(now)
			return nil
		}},
	{use: "mark-abandoned ENV_ID", args: 1,
		change: func(_ *command.Invocation, e *registry.Environment, _ []string, now time.Time) error {
			return e.MarkAbandoned(now)
		}},
	{use: "unblock ENV_ID", args: 1,
		change: func(a *command.Invocation, e *registry.Environment, _ []string, _ time.Time) error {
			if !e.Unblock() {
				a.Warn("it was not blocked")
			}
			return nil
		}},
	{use: "add-finding ENV_ID FINDING", args: 2,
		change: func(_ *command.Invocation, e *registry.Environment, args []string, _ time.Time) error {
			_, err := e.AddFinding(args[1])
			return err
		}},
	{use: "resolve-finding ENV_ID FINDING", args: 2,
		change: func(_ *command.Invocation, e *registry.Environment, args []string, _ time.Time) error {
			_, err := e.ResolveFinding(args[1])
			return err
		}},
	{use: "clear-findings ENV_ID", args: 1,
		change: func(_ *command.Invocation, e *registry.Environment, _ []string, _ time.Time) error {
			e.ClearFindings()
			return nil
		}},
}

// newEnvChanges makes the commands of entryChanges.
func newEnvChanges(a *command.Invocation) (all []*cobra.Command) {
	for _, x := range entryChanges {
		c := &cobra.Command{
			Use: x.use, Args: cobra.ExactArgs(x.args), ValidArgsFunction: offerEnvironments(a),
			RunE: func(c *cobra.Command, args []string) error {
				return changeEnvironment(c.Context(), a, args[0], func(e *registry.Environment, now time.Time) error { return x.change(a, e, args, now) })
			},
		}
		if c.Name() == "resolve-finding" {
			c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return offerFindings(a, c, args, begun)
			}
		}
		all = append(all, c)
	}
	return all
}

func offerFindings(a *command.Invocation, c *cobra.Command, args []string, begun string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) == 1 {
		if doc, err := environments.Read(c.Context(), a.Opener); err == nil {
			if e, err := doc.Find(args[0]); err == nil {
				for _, finding := range e.PendingIssues {
					words = append(words, redact.Line(finding, 400))
				}
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return offerEnvironments(a)(c, args, begun)
}
