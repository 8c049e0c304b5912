package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

func newHealth(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "health",
		Short: "Share the state of a self-healing loop between its passes: state.json",
		Long: "Two layers share the file. The control layer, in CI, only reads it and asks \"health gate\" whether a pass is due.\n" +
			"The repair layer looks, repairs, and reports facts with \"health record\"; it decides nothing.",
		Example: "  signalbox health gate && ./heal.sh\n  signalbox health record error-detected --error-id db --summary 'connection refused'\n" +
			"  signalbox health record fix-failed",
	}
	c.AddCommand(newHealthShow(a), newHealthInit(a), newHealthValidate(a), newHealthGate(a), newHealthRecord(a), newHealthEscalate(a), newHealthRestore(a))
	return c
}

// withHealth gives use the document, opened to be changed.
func (a *app) withHealth(ctx context.Context, use func(*store.Document[workflow.Health]) error) error {
	s, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return restorable(use(s.Health()))
}

// restorable names the command that mends a broken state.json.
func restorable(err error) error {
	if errors.Is(err, store.ErrBroken) {
		return &problem{err: err, hint: `bring back the version before it: "signalbox health restore"`}
	}
	return explained(err)
}

// loadHealth reads the document as it is.
func (a *app) loadHealth(ctx context.Context) (workflow.Health, error) {
	s, err := a.openStoreToRead(ctx)
	if err != nil {
		return workflow.Health{}, err
	}
	defer func() { _ = s.Close() }()
	h, err := s.Health().Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return h, &problem{err: errors.New("there is no state.json"), hint: "begin one: signalbox health init", code: exitNotFound}
	}
	return h, restorable(err)
}

// tellRestored says on standard error what became of a broken file.
func (a *app) tellRestored(r store.Restoration, did string) {
	if r.Broken == nil {
		return
	}
	from := "a new beginning"
	if r.Backup {
		from = "state.json.bak"
	}
	_, _ = fmt.Fprintf(a.Err, "%s %s; %s %s", a.paint(yellow, "warning:"), redact.Clean(r.Broken.Error()), did, from)
	if r.Kept != "" {
		_, _ = fmt.Fprintf(a.Err, "; the broken file is kept as %s", r.Kept)
	}
	_, _ = fmt.Fprintln(a.Err)
}

func (a *app) printHealth(h workflow.Health, gate workflow.Gate) {
	text := func(s string) string {
		if s == "" {
			return "-"
		}
		return redact.Line(s, 300)
	}
	a.print("Health: %s\n", text(h.LastHealthStatus))
	a.print("  %-9s %s: %s%s\n", "gate", gate.Decision, gate.Reason, until(gate))
	a.print("  %-9s %s %s\n", "error", text(h.LastErrorID), redact.Line(h.LastErrorSummary, 300))
	a.print("  %-9s %d passes, %d errors detected, %d of %d repairs succeeded, %d failed in a row\n", "totals", h.RunCount, h.TotalErrorsDetected,
		h.TotalFixesSucceeded, h.TotalFixesAttempted, h.ContinuousFailureCount)
	a.print("  %-9s last attempt %s, written %s\n", "times", text(h.LastAttemptAt), text(h.UpdatedAt))
	if h.LastHealthStatus == workflow.HealthCritical {
		a.print("%s\n", criticalAdvice(h))
	}
}

func until(g workflow.Gate) string {
	if g.Until.IsZero() {
		return ""
	}
	return " (" + g.Until.Format(time.RFC3339) + ")"
}

// criticalAdvice is what a person does about a critical state.
func criticalAdvice(h workflow.Health) string {
	about := `open the request about it: "signalbox health escalate"`
	if h.Loop.Request != "" {
		about = "see request " + redact.Line(h.Loop.Request, 60)
	}
	return strings.Join([]string{"  " + about, `  when it is mended: "signalbox health record healthy"`}, "\n")
}
