package env

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func newEnvBlock(a *command.Invocation) *cobra.Command {
	var reasons []string
	for _, reason := range registry.BlockedReasons {
		reasons = append(reasons, string(reason))
	}
	var details string
	c := &cobra.Command{
		Use:               "block ENV_ID REASON DESCRIPTION [SUGGESTED_ACTION]",
		Args:              cobra.RangeArgs(3, 4),
		ValidArgsFunction: offerEnvironments(a, reasons...),
		RunE: func(c *cobra.Command, args []string) error {
			block := workflow.Blocked{Reason: workflow.BlockedReason(args[1]), Description: args[2]}
			if len(args) == 4 {
				block.SuggestedAction = args[3]
			}
			if err := json.Unmarshal([]byte(details), &block.Context); err != nil {
				return &problem.Error{Err: fmt.Errorf("--context is no JSON object: %w", err), Hint: `for instance --context '{"points": ["ids"]}'`, Code: problem.Usage}
			}
			return changeEnvironment(c.Context(), a, args[0], func(e *registry.Environment, now time.Time) error { return e.Block(block, now) })
		},
	}
	c.Flags().StringVar(&details, "context", "{}", "further facts, a JSON object")
	return c
}
