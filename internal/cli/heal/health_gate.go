package heal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"signalbox/internal/app/healing"
	"signalbox/internal/cli/command"
	"signalbox/internal/health"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

func newHealthGate(a *command.Invocation) *cobra.Command {
	var every time.Duration
	c := &cobra.Command{
		Use: "gate",
		RunE: func(c *cobra.Command, _ []string) error {
			if every <= 0 {
				return &problem.Error{Err: fmt.Errorf("--check-every is %s", every), Hint: "want a time above zero", Code: problem.Usage}
			}
			return gate(c.Context(), a, every)
		},
	}
	c.Flags().DurationVar(&every, "check-every", health.Interval, "how long a healthy project is left alone")
	return c
}

func gate(ctx context.Context, a *command.Invocation, every time.Duration) error {
	at, err := healing.Load(ctx, a.Opener)
	tellRestored(a, at.Broken, "deciding by")
	if err != nil {
		return err
	}
	gate := at.Gate(every, a.Opener.Now())
	if err := writeOutputs(a, gate, at.State); err != nil {
		return err
	}
	if a.JSON {
		err = a.PrintJSON(gate)
	} else {
		a.Print("%s: %s%s\n", gate.Decision, redact.Clean(gate.Reason), until(gate))
		if gate.Decision == health.GateCritical {
			a.Print("%s\n", criticalAdvice(at.State))
		}
	}
	if code := gateCodes[gate.Decision]; err == nil && code != problem.OK {
		return &problem.Error{Code: code}
	}
	return err
}

var gateCodes = map[health.GateDecision]int{health.GateGo: problem.OK, health.GateStop: problem.NothingDue,
	health.GateCooldown: problem.Cooldown, health.GateCritical: problem.NeedsInput}

// writeOutputs appends to the file that GitHub Actions reads.
func writeOutputs(a *command.Invocation, gate health.Gate, h health.State) error {
	path := a.Opener.Env("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	root, _, err := wire.DocumentsRoot(a.Opener.Dir)
	if err != nil {
		return err
	}
	mask := a.Opener.LateRedactor(root) // another program may have left a secret in the file
	deadline := ""
	if !gate.Until.IsZero() {
		deadline = gate.Until.Format(time.RFC3339)
	}
	var text strings.Builder
	for _, output := range [][2]string{
		{"decision", string(gate.Decision)}, {"go", strconv.FormatBool(gate.Decision == health.GateGo)}, {"look", strconv.FormatBool(gate.Look)}, {"reason", gate.Reason}, {"until", deadline},
		{"retry_required", strconv.FormatBool(h.RetryRequired)}, {"run_count", strconv.Itoa(h.RunCount)},
		{"continuous_failure_count", strconv.Itoa(h.ContinuousFailureCount)}, {"last_health_status", h.LastHealthStatus},
		{"last_error_id", h.LastErrorID}, {"last_error_summary", h.LastErrorSummary}, {"cooldown_until", h.CooldownUntil},
	} {
		writeOutput(&text, output[0], mask(redact.Clean(output[1])))
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write GitHub Actions outputs: %w", err)
	}
	_, err = file.WriteString(text.String())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write GitHub Actions outputs: %w", err)
	}
	return nil
}

// writeOutput writes one output. Its end is marked by a word that nobody can
// know before, so that a value with newlines cannot end it and set others.
func writeOutput(to *strings.Builder, name, value string) {
	end := "end_" + rand.Text()
	_, _ = fmt.Fprintf(to, "%s<<%s\n%s\n%s\n", name, end, value, end)
}
