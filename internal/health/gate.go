package health

import (
	"fmt"
	"time"
)

// GateDecision is the control layer's decision on the next pass. It is made before each pass, from state.json alone, and starts nothing itself.
type GateDecision string

const (
	// GateGo starts a pass: a look is due, or a repair whose cooldown is over. In CI the job continues with "signalbox heal". Exit code 0.
	GateGo GateDecision = "go"
	// GateStop starts none: nothing is due yet, or a pass is running. The next schedule asks again. Exit code 8.
	GateStop GateDecision = "stop"
	// GateCooldown starts none: a repair failed, and the next waits until Gate.Until. Exit code 9.
	GateCooldown GateDecision = "cooldown"
	// GateCritical repairs nothing until a person rearms the loop. Looks continue; see Gate.Look. Exit code 3.
	GateCritical GateDecision = "critical"
)

// Gate is a decision with its reason, as "signalbox heal gate" prints it.
type Gate struct {
	// Decision is the word for scripts.
	Decision GateDecision `json:"decision"`
	// Reason is a sentence for people, without a period.
	Reason string `json:"reason"`
	// Until is the end of the cooldown, or the time of the next look, in UTC. Zero if neither applies.
	Until time.Time `json:"until,omitzero"`
	// Look is true if the state is critical and a look is due. Such a pass repairs nothing; HealthyPasses of them without findings end the critical
	// state.
	Look bool `json:"look,omitzero"`
}

// Gate decides whether a pass is due. every is the interval between two looks at a healthy project; zero means Interval.
//
// A status that is not known to be healthy is always a reason to look: the document may have been written by another program, or lost and made
// again.
func (h *State) Gate(every time.Duration, now time.Time) Gate {
	if every <= 0 {
		every = Interval
	}
	switch {
	case h.LastHealthStatus == Critical:
		_, waits := h.waits(every, now)
		return Gate{Decision: GateCritical, Reason: h.FailedInARow() + "; a person must act", Look: !waits}
	case h.RetryRequired:
		until, err := time.Parse(time.RFC3339, h.CooldownUntil)
		if written, e := time.Parse(time.RFC3339, h.UpdatedAt); e == nil && until.Sub(written) > RepairCooldown {
			until = written.Add(RepairCooldown)
		}
		// An end more than RepairCooldown from now was written by another clock. It counts as over, because otherwise it might never come.
		if err == nil && until.After(now) && until.Sub(now) <= RepairCooldown {
			return Gate{Decision: GateCooldown, Reason: "a repair failed; the next one waits for the end of its cooldown", Until: until.UTC()}
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
