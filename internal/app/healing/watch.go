package healing

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/heal"
	"signalbox/internal/health"
	"signalbox/internal/redact"
	"signalbox/internal/store"
	"signalbox/internal/wire/folder"
)

// unknownEvery is how soon a pass is tried again if nothing has said how often: the configuration can't be read.
const unknownEvery = 5 * time.Minute

// Watch makes a pass at once, and then whenever one is due, until ctx ends or make returns an error: every after the last one
// began, or when a cooldown is over. An every of 0 is the configuration's.
func Watch(ctx context.Context, o *app.Opener, every time.Duration, make func() (heal.Report, error)) error {
	known := unknownEvery
	for ctx.Err() == nil {
		started := o.Now()
		report, err := make()
		if err != nil {
			return err
		}
		known = cmp.Or(every, report.Every, known)
		wait := known // a pass that came to nothing is repeated after that time from now
		if report.Result != "" {
			now, next := o.Now(), started.Add(known)
			if gate := report.Health.Gate(known, now); gate.Decision == health.GateCooldown {
				next = gate.Until
			}
			wait = max(next.Sub(now), 0)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return nil
}

// Summary is a status as programs see it.
type Summary struct {
	State health.State `json:"state"`
	Gate  health.Gate  `json:"gate"`
	// Holder is the process that makes a pass now; nil if there is none.
	Holder *store.LockRecord `json:"holder"`
	// CutOff: a pass began, and no process makes it. If it ended with an error, state has the error.
	CutOff bool     `json:"cut_off"`
	Sum    heal.Sum `json:"repairs"`
}

// Summary returns the status as programs see it.
func (s *Status) Summary() Summary {
	return Summary{State: s.State, Gate: s.Gate, Holder: s.Holder, CutOff: s.CutOff(), Sum: s.Past.Sum()}
}

// WriteOutputs appends the gate's decision and the state to the file that GitHub Actions reads, if $GITHUB_OUTPUT names one.
func WriteOutputs(o *app.Opener, gate health.Gate, h health.State) error {
	path := o.Env("GITHUB_OUTPUT")
	if path == "" {
		return nil
	}
	root, _, err := folder.Root(o.Dir)
	if err != nil {
		return err
	}
	mask := o.LateRedactor(root) // another program may have left a secret in the file
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
		// The end of a value is a word that can't be guessed, so that a value with newlines can't end it and set others.
		end := "end_" + rand.Text()
		_, _ = fmt.Fprintf(&text, "%s<<%s\n%s\n%s\n", output[0], end, mask(redact.Clean(output[1])), end)
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
