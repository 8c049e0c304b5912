package env

import (
	"strconv"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
)

func newEnvShow(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "show ENV_ID",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: offerEnvironments(a),
		RunE: func(c *cobra.Command, args []string) error {
			doc, err := environments.Read(c.Context(), a.Opener)
			if err != nil {
				return err
			}
			e, err := environments.Entry(&doc, args[0])
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(e)
			}
			printEnvironment(a, e)
			return nil
		},
	}
}

func printEnvironment(a *command.Invocation, e *registry.Environment) {
	field := func(name, value string) {
		if value != "" {
			a.Print("%-10s %s\n", name, redact.Line(value, 400))
		}
	}
	field("env_id", e.EnvID)
	field("issue", "#"+strconv.Itoa(e.IssueNumber))
	field("title", e.Title)
	field("branch", e.Branch)
	field("status", string(e.Status))
	field("phase", strconv.Itoa(int(e.Phase))+" "+string(e.Step))
	if e.PRNumber != nil {
		field("pr", strconv.Itoa(*e.PRNumber))
	}
	field("area", e.Area)
	field("created", commandline.WhenKnown(e.CreatedAt))
	field("last used", commandline.WhenKnown(e.LastUsedAt))
	if b := e.Blocked; b != nil {
		field("blocked", string(b.Reason)+": "+b.Description)
		field("since", commandline.WhenKnown(b.BlockedAt))
		field("suggested", b.SuggestedAction)
	}
	for _, finding := range e.PendingIssues {
		field("finding", finding)
	}
}
