package run

import (
	"context"

	"github.com/spf13/cobra"

	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func newStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "status [RUN]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return list(c.Context(), a, true)
			}
			return status(c.Context(), a, args[0])
		},
	}
}

func status(ctx context.Context, a *command.Invocation, ref string) error {
	p, err := a.Open(ctx)
	if err != nil {
		return err
	}
	p.WarnOfConfig()
	at, err := p.Status(ctx, ref)
	switch {
	case err != nil:
		return err
	case at.Issue != nil && a.JSON:
		return a.PrintJSON(at.Issue)
	case at.Issue != nil:
		display.PrintIssueStatus(a, *at.Issue)
	case a.JSON:
		return a.PrintJSON(shownRun{at.Run, at.Interrupted, registry.PhasesOf(&at.Run), registry.SetUpOf(&at.Run), at.Run.Details.HandOver()})
	default:
		display.PrintRun(ctx, p, &at.Run, at.Holder, at.Held)
	}
	return nil
}

// shownRun is stage.json with what every front end reads off it.
type shownRun struct {
	workflow.Run
	// Interrupted is as in a listing.
	Interrupted bool `json:"interrupted"`

	Phases   []registry.PhaseProgress `json:"progress_phases"`
	SetUp    *registry.SetUpProgress  `json:"setup_progress"`
	HandOver workflow.HandOver        `json:"environment_handover"`
}
