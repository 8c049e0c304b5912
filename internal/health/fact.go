package health

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Fact is an event that the repair layer reports. It holds no decision: Record decides what follows. Programs other than Signalbox report facts too,
// with one "signalbox health record" each.
type Fact struct {
	Kind FactKind
	// ErrorID and Summary describe the error of FactErrorDetected; other facts ignore them. ErrorID is one line of at most 200 bytes, in any form that
	// the reporting program uses. Summary may be longer than state.json keeps.
	ErrorID, Summary string
}

// FactKind is the name of a fact, as "signalbox health record" takes it.
type FactKind string

const (
	// FactHealthy: a look found nothing. It ends a pass; while an error is open, the state stays degraded until a look verifies it.
	FactHealthy FactKind = "healthy"
	// FactErrorDetected: a look found an error. The status becomes degraded, unless it is critical.
	FactErrorDetected FactKind = "error-detected"
	// FactFixAttempted: a repair started. It is counted now, so a crash in the middle does not hide it.
	FactFixAttempted FactKind = "fix-attempted"
	// FactFixSucceeded: a repair succeeded. It ends a pass; the state stays degraded until the next look.
	FactFixSucceeded FactKind = "fix-succeeded"
	// FactFixFailed: a repair failed. It ends a pass and starts the cooldown.
	FactFixFailed FactKind = "fix-failed"
	// FactRearmed: a person acted on a critical state, so repairs may start again.
	FactRearmed FactKind = "rearmed"
)

// FactKinds lists all facts in the order of a pass. Programs report all but the last, which is for a person.
var FactKinds = []FactKind{FactHealthy, FactErrorDetected, FactFixAttempted, FactFixSucceeded, FactFixFailed, FactRearmed}

// Validate returns an error for an unknown kind, and for an error that has no id, a long one or one with control characters.
func (f Fact) Validate() error {
	if !slices.Contains(FactKinds, f.Kind) {
		return fmt.Errorf("there is no fact %q", f.Kind)
	}
	if f.Kind != FactErrorDetected {
		return nil
	}
	if f.ErrorID == "" || len(f.ErrorID) > maxErrorID || strings.ContainsFunc(f.ErrorID, unicode.IsControl) {
		return fmt.Errorf("error id %.200q must be one line of at most %d bytes", f.ErrorID, maxErrorID)
	}
	return nil
}

// Record applies a fact to the state: counters, status, cooldown, and the loop's own memory. It returns true if this fact made the state critical, so
// that the caller tells a person once. A fact that Validate refuses changes nothing.
//
// Facts may come late, twice or without the ones before them: a repair whose beginning was not reported is counted at its end.
func (h *State) Record(fact Fact, now time.Time) (critical bool, err error) {
	if err := fact.Validate(); err != nil {
		return false, err
	}
	now = now.UTC()
	switch fact.Kind {
	case FactHealthy:
		h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
		// The open errors stay until a look verifies them.
		l := h.Loop
		h.Loop = Loop{Earlier: l.Earlier, Unclosed: l.Unclosed, Errors: l.Errors, Pass: l.Pass, Undone: l.Undone, Unknown: l.Unknown}
		if l.Request != "" {
			h.Loop.Earlier = append(slices.Clone(l.Earlier), l.Request)
		}
		h.LastHealthStatus = Healthy
		if slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return !e.Fixed }) { // reported as healthy, but not verified by a look
			h.LastHealthStatus = Degraded
		}
		h.RunCount++
	case FactErrorDetected:
		h.TotalErrorsDetected++
		h.Loop.HealthyPasses = 0
		h.LastErrorID, h.LastErrorSummary = fact.ErrorID, summarized(fact.Summary)
		if h.LastHealthStatus != Critical {
			h.LastHealthStatus = Degraded
		}
	case FactFixAttempted:
		h.attempted(now)
	case FactFixSucceeded, FactFixFailed:
		if !h.Loop.Attempting { // the beginning of the repair was not reported
			h.attempted(now)
		}
		h.Loop.Attempting = false
		h.RunCount++
		if fact.Kind == FactFixFailed {
			h.Loop.HealthyPasses = 0
			critical = h.failed(now)
			break
		}
		h.TotalFixesSucceeded++
		h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
		h.LastHealthStatus, h.Loop.CriticalSince, h.Loop.Request = Degraded, "", ""
	case FactRearmed:
		if h.LastHealthStatus == Critical { // otherwise a repeated or late report
			h.Rearm(now)
		}
	}
	h.UpdatedAt = now.Format(time.RFC3339)
	return critical, nil
}

// attempted counts a repair that starts, or one whose end is reported first.
func (h *State) attempted(now time.Time) {
	h.TotalFixesAttempted++
	h.LastAttemptAt = now.Format(time.RFC3339)
	h.Loop.Attempting = true
}

// failed counts a pass in which a repair failed. The first ones in a row start a cooldown; after CriticalFailures of them the state is critical, and
// repairs wait for a person. It returns true if this pass made it so.
func (h *State) failed(now time.Time) (critical bool) {
	h.ContinuousFailureCount++
	if h.ContinuousFailureCount < CriticalFailures {
		h.RetryRequired, h.CooldownUntil = true, now.Add(RepairCooldown).Format(time.RFC3339)
		h.LastHealthStatus = Degraded
		return false
	}
	critical = h.LastHealthStatus != Critical
	if critical || h.Loop.CriticalSince == "" {
		h.Loop.CriticalSince, h.Loop.Request = now.Format(time.RFC3339Nano), ""
	}
	h.RetryRequired, h.CooldownUntil, h.LastHealthStatus = false, "", Critical
	return critical
}
