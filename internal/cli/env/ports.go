package env

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/environments"
	"signalbox/internal/cli/command"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func newEnvPorts(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:               "ports [ENV]",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: offerEnvironments(a),
		RunE:              func(c *cobra.Command, args []string) error { return ports(c.Context(), a, args) },
	}
}

// portRange is one environment's ports as --json shows them.
type portRange struct {
	EnvID string `json:"env_id,omitempty"`
	Issue int    `json:"issue_number"`
	First int    `json:"first"`
	Last  int    `json:"last"`
}

func ports(ctx context.Context, a *command.Invocation, args []string) error {
	doc, err := environments.Read(ctx, a.Opener)
	if err != nil {
		return err
	}
	ranges := []portRange{}
	for _, e := range doc.Environments {
		if len(args) == 0 || args[0] == e.EnvID || strings.TrimPrefix(args[0], "#") == fmt.Sprint(e.IssueNumber) {
			first, last := workflow.Ports(e.IssueNumber)
			ranges = append(ranges, portRange{e.EnvID, e.IssueNumber, first, last})
		}
	}
	if len(args) == 1 && len(ranges) == 0 {
		return environments.Explained(args[0], fmt.Errorf("environment %q: %w", args[0], registry.ErrNoEnvironment))
	}
	if a.JSON {
		return a.PrintJSON(ranges)
	}
	if len(ranges) == 0 {
		a.Say("no environment is registered")
		return nil
	}
	out, flush := a.Columns("ISSUE", "PORTS", "ENV_ID")
	for _, r := range ranges {
		_, _ = fmt.Fprintf(out, "#%d\t%d-%d\t%s\n", r.Issue, r.First, r.Last, redact.Line(r.EnvID, 200))
	}
	return flush()
}
