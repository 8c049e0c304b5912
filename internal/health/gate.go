package health

import (
	"fmt"
	"time"
)

// GateDecision is the control layer's decision on the next pass.
type GateDecision string

const (
	// GateGo starts a pass: a look, or a repair whose cooldown is over.
	GateGo GateDecision = "go"
	// GateStop starts none: nothing is due yet, or a pass is running.
	GateStop GateDecision = "stop"
	// GateCooldown starts none: a repair failed, and the next waits until Gate.Until.
	GateCooldown GateDecision = "cooldown"
	// GateCritical repairs nothing until a person rearms the loop. Looks go on; see Gate.Look.
	GateCritical GateDecision = "critical"
)

// Gate is a decision and its reason.
type Gate struct {
	Decision GateDecision `json:"decision"`
	// Reason is a sentence for people.
	Reason string `json:"reason"`
	// Until is the end of the cooldown, or the time of the next look. Zero if neither applies.
	Until time.Time `json:"until,omitzero"`
	// Look is true if the state is critical and a look is due. Such a pass repairs nothing; HealthyPasses of them without findings end the critical
	// state.
	Look bool `json:"look,omitzero"`
}

// Gate decides whether a pass is due. every is the interval between two looks at a healthy project; zero means Interval.
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

// FailedInARow describes continuous_failure_count in words. It counts passes, and one pass may hold several failed repairs.
func (h *State) FailedInARow() string {
	if h.ContinuousFailureCount == 1 {
		return "repairs failed in 1 pass"
	}
	return fmt.Sprintf("repairs failed in %d passes in a row", h.ContinuousFailureCount)
}

// Beside returns the decision that applies while another pass is running: no second one starts. pass names the running pass and its owner.
func (g Gate) Beside(pass string) Gate {
	if g.Look = false; g.Decision == GateGo {
		g.Decision, g.Reason = GateStop, "a pass is running: "+pass
	}
	return g
}

// waits reports whether the next look at a healthy project is still ahead, and returns its time: the recorded one, or every after the document was
// written, whichever is earlier; zero if UpdatedAt can't be parsed. If it is further away than every, another clock wrote it, and the look is due.
func (h *State) waits(every time.Duration, now time.Time) (next time.Time, waits bool) {
	last, err := time.Parse(time.RFC3339, h.UpdatedAt)
	if err != nil {
		return time.Time{}, false
	}
	next = last.Add(every)
	if recorded, err := time.Parse(time.RFC3339, h.Loop.NextRunAt); err == nil && recorded.Before(next) {
		next = recorded
	}
	return next.UTC(), next.After(now) && next.Sub(now) <= every
}

// cooldown returns the end of the repair cooldown, at most RepairCooldown after the document was written. If that is still more than RepairCooldown
// from now, another clock wrote it; the cooldown counts as over, because otherwise it might never end.
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
