package health

import (
	"fmt"
	"time"
)

// GateDecision is what the control layer does with the next pass.
type GateDecision string

const (
	GateGo       GateDecision = "go"       // repair, or look
	GateStop     GateDecision = "stop"     // nothing is due, or a pass is running
	GateCooldown GateDecision = "cooldown" // a repair is due, but not yet
	GateCritical GateDecision = "critical" // only a person goes on
)

// Gate is a decision with its reason, a sentence for people.
type Gate struct {
	Decision GateDecision `json:"decision"`
	Reason   string       `json:"reason"`
	// Until is when the cooldown is over, or the next look is due.
	Until time.Time `json:"until,omitzero"`
	// Look: the state is critical, and a look is due, which repairs nothing. Looks that find nothing end it.
	Look bool `json:"look,omitzero"`
}

// Gate decides whether a pass is due. every is how long a healthy project is
// left alone; zero means Interval.
func (h *State) Gate(every time.Duration, now time.Time) Gate {
	if every <= 0 {
		every = Interval
	}
	switch {
	case h.LastHealthStatus == Critical:
		_, waits := h.waits(every, now)
		return Gate{Decision: GateCritical, Reason: h.FailedInARow() + "; a person must act", Look: !waits}
	case h.RetryRequired:
		if until := h.cooldown(now); until.After(now) {
			return Gate{Decision: GateCooldown, Reason: "a repair failed; the next one waits for the end of its cooldown", Until: until}
		}
		return Gate{Decision: GateGo, Reason: "a repair is due: the last one failed and its cooldown is over"}
	case h.LastHealthStatus != Healthy:
		return Gate{Decision: GateGo, Reason: fmt.Sprintf("a health check is due: the last known status is %q", h.LastHealthStatus)}
	}
	if next, waits := h.waits(every, now); waits {
		return Gate{Decision: GateStop, Reason: "healthy, and the next health check is not due yet", Until: next}
	}
	return Gate{Decision: GateGo, Reason: fmt.Sprintf("a health check is due: the last one is not within the last %s", every)}
}

// FailedInARow says what continuous_failure_count counts: passes, each with as many repairs as there were errors.
func (h *State) FailedInARow() string {
	if h.ContinuousFailureCount == 1 {
		return "repairs failed in 1 pass"
	}
	return fmt.Sprintf("repairs failed in %d passes in a row", h.ContinuousFailureCount)
}

// Beside is the decision while a pass is running, which pass says by whom: no other begins.
func (g Gate) Beside(pass string) Gate {
	if g.Look = false; g.Decision == GateGo {
		g.Decision, g.Reason = GateStop, "a pass is running: "+pass
	}
	return g
}

// waits says whether the next look is not due yet, and when it is. A time that is further away than every was written by
// another clock.
func (h *State) waits(every time.Duration, now time.Time) (next time.Time, waits bool) {
	next = h.nextLook(every)
	return next, next.After(now) && next.Sub(now) <= every
}

// nextLook is when a healthy project is looked at again: as the last pass said, or every after the
// document was written, whichever is earlier. The zero time if that is not known.
func (h *State) nextLook(every time.Duration) time.Time {
	last, err := time.Parse(time.RFC3339, h.UpdatedAt)
	if err != nil {
		return time.Time{}
	}
	after := last.Add(every)
	if next, err := time.Parse(time.RFC3339, h.Loop.NextRunAt); err == nil && next.Before(after) {
		after = next
	}
	return after.UTC()
}

// cooldown is when the repair's cooldown ends: at most RepairCooldown after the
// document was written. An end that is further away than that from now was
// written by another clock and counts as over, or it could stop the loop for ever.
func (h *State) cooldown(now time.Time) (until time.Time) {
	until, err := time.Parse(time.RFC3339, h.CooldownUntil)
	if err != nil {
		return time.Time{}
	}
	if written, err := time.Parse(time.RFC3339, h.UpdatedAt); err == nil && until.Sub(written) > RepairCooldown {
		until = written.Add(RepairCooldown)
	}
	if until.Sub(now) > RepairCooldown {
		return time.Time{}
	}
	return until.UTC()
}
