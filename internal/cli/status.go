package cli

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

func newStatus(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "status [RUN]",
		Short:   "Show where a run is, why it stopped and what to type next",
		Long:    "Without a run: every request's latest run, one line each. With one: where it is, its phases and steps, and, if it\nstopped, why and what to do.",
		Example: "  signalbox status\n  signalbox status 42\n  signalbox status 42 --json | jq .signalbox.phase",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.list(c.Context(), true)
			}
			return a.status(c.Context(), args[0])
		},
	}
}

func (a *invocation) status(ctx context.Context, ref string) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	p.warn()
	if err := app.SettleSessions(ctx, p.Store); err != nil {
		return wire.Explained(err)
	}
	found, err := p.Find(ctx, ref)
	if err != nil && problem.CodeOf(err) != problem.NotFound {
		return err
	}
	if err != nil {
		if shown, statusErr := p.bareStatus(ctx, ref); shown || statusErr != nil {
			return statusErr
		}
		return err
	}
	holder, held, err := p.Held(ctx, found.Ref.RequestID)
	if err != nil {
		return err
	}
	if p.json {
		return p.printJSON(shownRun{found.Run, found.Run.Interrupted() || found.Run.UnderWay() && !held,
			registry.PhasesOf(&found.Run), registry.SetUpOf(&found.Run), found.Run.Details.HandOver()})
	}
	p.printRun(ctx, &found.Run, holder, held)
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
func (p *project) bareStatus(ctx context.Context, ref string) (shown bool, err error) {
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
	if p.json {
		return true, p.printJSON(status)
	}
	p.printIssue(status)
	return true, nil
}

// printIssue prints the four lines of S6.
func (a *invocation) printIssue(s registry.IssueStatus) {
	a.print("Issue #%d: %s\n", s.Issue, s.Status)
	if s.Session != "" {
		a.print("Session: %s\n", redact.Line(s.Session, 200))
	}
	if s.Status == registry.IssueError {
		a.print("Error: %s\n", redact.Line(s.ErrorMessage, 400))
	}
	a.print("Timestamp: %s\n", s.Timestamp.UTC().Format(time.RFC3339))
}
