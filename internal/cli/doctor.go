package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"signalbox/internal/app/doctor"
	"signalbox/internal/cli/command"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

func newDoctor(a *command.Invocation) *cobra.Command {
	return &cobra.Command{
		Use:  "doctor",
		RunE: func(c *cobra.Command, _ []string) error { return examine(c.Context(), a) },
	}
}

func examine(ctx context.Context, a *command.Invocation) error {
	p, err := a.Open(ctx)
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
	if a.JSON {
		if err := a.PrintJSON(findings); err != nil {
			return err
		}
	} else {
		printFindings(a, findings)
	}
	if missing > 0 {
		return &problem.Error{Code: problem.General}
	}
	return nil
}

func printFindings(a *command.Invocation, findings []doctor.Finding) {
	code := map[string]string{doctor.VerdictOK: command.Green, doctor.VerdictWarning: command.Yellow, doctor.VerdictMissing: command.Red}
	for _, f := range findings {
		verdict, what := a.Paint(code[f.Verdict], fmt.Sprintf("%-8s", f.Verdict)), f.What
		for line := range strings.Lines(strings.TrimSuffix(f.Says+"\n"+f.Next, "\n")) {
			a.Print("%s %-14s %s\n", verdict, what, redact.Line(line, command.SayAtMost))
			verdict, what = fmt.Sprintf("%-8s", ""), ""
		}
	}
}
