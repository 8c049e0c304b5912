package run

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/cli/display"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newStatus(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "status [RUN]",
		Short:   "Show where a run is, why it stopped and what to type next",
		Long:    "Without a run: every request's latest run, one line each. With one: where it is, its phases and steps, and, if it\nstopped, why and what to do.",
		Example: "  signalbox status\n  signalbox status 42\n  signalbox status 42 --json | jq .signalbox.phase",
		Args:    cobra.MaximumNArgs(1),
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
	if err := app.SettleSessions(ctx, p.Store); err != nil {
		return wire.Explained(err)
	}
	found, err := p.Find(ctx, ref)
	if err != nil && problem.CodeOf(err) != problem.NotFound {
		return err
	}
	if err != nil {
		if shown, statusErr := bareStatus(ctx, p, ref); shown || statusErr != nil {
			return statusErr
		}
		return err
	}
	holder, held, err := p.Held(ctx, found.Ref.RequestID)
	if err != nil {
		return err
	}
	if p.JSON {
		return p.PrintJSON(shownRun{found.Run, found.Run.Interrupted() || found.Run.UnderWay() && !held,
			registry.PhasesOf(&found.Run), registry.SetUpOf(&found.Run), found.Run.Details.HandOver()})
	}
	display.PrintRun(ctx, p, &found.Run, holder, held)
	return nil
}

// shownRun is stage.json with what every face reads off it.
type shownRun struct {
	workflow.Run
	// Interrupted is as in a listing.
	Interrupted bool `json:"interrupted"`

	Phases   []registry.PhaseProgress `json:"progress_phases"`
	SetUp    *registry.SetUpProgress  `json:"setup_progress"`
	HandOver workflow.HandOver        `json:"environment_handover"`
}

// bareStatus shows a status file that no run of ours stands behind.
func bareStatus(ctx context.Context, p *command.Project, ref string) (shown bool, err error) {
	n, err := strconv.Atoi(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return false, nil
	}
	status, err := p.Store.IssueStatus(n).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return true, wire.Explained(err)
	}
	if p.JSON {
		return true, p.PrintJSON(status)
	}
	display.PrintIssueStatus(p.Invocation, status)
	return true, nil
}
