package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/doctor"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newDoctor(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check what works here, what's missing and how to fix it",
		Long: "Check what works here, what's missing and how to fix it. Nothing is changed. The remote origin is asked whether it would take a push " +
			"(git push --dry-run, at most 20 seconds), unless push is never.",
		Example: "  signalbox doctor\n  signalbox doctor --json",
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context()) },
	}
}

func (a *invocation) doctor(ctx context.Context) error {
	p, err := a.open(ctx)
	if err != nil {
		return err
	}
	findings := doctor.Examine(ctx, p.App)
	missing := 0
	for _, f := range findings {
		if f.Verdict == doctor.VerdictMissing {
			missing++
		}
	}
	if a.json {
		if err := a.printJSON(findings); err != nil {
			return err
		}
	} else {
		a.printFindings(findings)
	}
	if missing > 0 {
		return &problem.Error{Code: problem.General}
	}
	return nil
}

func (a *invocation) printFindings(findings []doctor.Finding) {
	code := map[string]string{doctor.VerdictOK: green, doctor.VerdictWarning: yellow, doctor.VerdictMissing: red}
	for _, f := range findings {
		verdict, what := a.paint(code[f.Verdict], fmt.Sprintf("%-8s", f.Verdict)), f.What
		for line := range strings.Lines(strings.TrimSuffix(f.Says+"\n"+f.Next, "\n")) {
			a.print("%s %-14s %s\n", verdict, what, redact.Line(line, sayAtMost))
			verdict, what = fmt.Sprintf("%-8s", ""), ""
		}
	}
}

// sayAtMost is how much of one line is shown, in runes: an engine's whole complaint with the
// advice behind it, and no page of HTML.
const sayAtMost = 1000
