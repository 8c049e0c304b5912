package health

import (
	"slices"
	"time"
)

// Finish ends the current pass and returns it; the zero Pass if none is running. The next look is due one interval, every, after the beginning of
// this pass.
//
// A failed repair counts the pass as failed. A pass whose repairs all succeeded sets the count apart, as Loop.Unverified, until the next look shows
// that they hold; one that waits for a person leaves the count as it is.
func (h *State) Finish(every time.Duration, now time.Time) Pass {
	p := h.Loop.Pass
	if p == nil {
		return Pass{}
	}
	p.Result, p.EndedAt = PassRepaired, now.UTC().Format(time.RFC3339)
	outcomes := map[RepairOutcome]bool{}
	for _, r := range p.Repairs {
		outcomes[r.Outcome] = true
	}
	switch { // the worst outcome names the pass
	case h.LastHealthStatus == Critical:
		p.Result = PassCritical
	case outcomes[RepairFailed]:
		p.Result = PassFailed
	case outcomes[RepairWaiting], outcomes[""]:
		p.Result = PassWaiting
	}
	h.RunCount++
	switch p.Result {
	case PassFailed:
		h.failed(now)
		if h.LastHealthStatus == Critical {
			p.Result = PassCritical
		}
	case PassRepaired, PassWaiting:
		h.RetryRequired, h.CooldownUntil = false, ""
		if p.Result == PassRepaired {
			h.Loop.Unverified, h.ContinuousFailureCount = h.Loop.Unverified+h.ContinuousFailureCount, 0
		}
	}
	h.schedule(*p, every, now)
	ended := *p
	h.Loop.Pass = nil
	return ended
}

// schedule sets the time of the next look. It counts from the beginning of this pass, not its end: otherwise a CI schedule as long as the interval
// would find every second look not due yet.
func (h *State) schedule(p Pass, every time.Duration, now time.Time) {
	h.UpdatedAt, h.Loop.Stopped = now.UTC().Format(time.RFC3339), ""
	started, err := time.Parse(time.RFC3339, p.StartedAt)
	if err != nil || started.After(now) {
		started = now
	}
	h.Loop.NextRunAt = started.Add(every).UTC().Format(time.RFC3339)
}

// Well ends a pass that found nothing and returns it. A repair that was not verified before now is. After HealthyPasses such passes in a row, open
// errors count as gone and a critical state ends.
func (h *State) Well(pass Pass, every time.Duration, now time.Time) Pass {
	pass.Result, pass.EndedAt = PassHealthy, now.UTC().Format(time.RFC3339)
	h.Loop.HealthyPasses = min(h.Loop.HealthyPasses+1, HealthyPasses)
	h.RunCount++
	h.Loop.Pass = nil
	h.schedule(pass, every, now)
	steady := h.Loop.HealthyPasses == HealthyPasses
	h.Loop.Errors = slices.DeleteFunc(h.Loop.Errors, func(e Error) bool { return e.Fixed || steady && !e.Attempting })
	if h.LastHealthStatus == Critical && !steady {
		pass.Result = PassCritical
		return pass
	}
	h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
	h.LastHealthStatus, h.Loop.Unverified = Healthy, 0
	if steady {
		h.Loop.CriticalSince, h.Loop.Request, h.Loop.Earlier = "", "", nil
	}
	return pass
}

// ToClose returns the ids of the requests that the next pass without findings will close: those that could not be closed before and, if that pass is
// the last of HealthyPasses, those about critical states and about errors that disappeared by themselves. An error whose repair was merged is left
// out, because its own run closes its request.
func (h *State) ToClose() (requests []string) {
	requests = slices.Clone(h.Loop.Unclosed)
	if h.Loop.HealthyPasses+1 < HealthyPasses {
		return requests
	}
	for _, e := range h.Loop.Errors {
		if e.Request != "" && !e.Fixed && !e.Attempting {
			requests = append(requests, e.Request)
		}
	}
	requests = append(requests, h.Loop.Earlier...)
	if h.Loop.Request != "" { // last: if the pass is killed after that, the next one takes the closed request for a person's word
		requests = append(requests, h.Loop.Request)
	}
	return requests
}

// Rearm allows repairs again after a person acted on a critical state. The status becomes degraded, so a look is due at once. The request about the
// critical state stays open until its cause is gone.
func (h *State) Rearm(now time.Time) {
	h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
	h.LastHealthStatus = Degraded
	if h.Loop.Request != "" { // closed by Well, once its cause is gone
		h.Loop.Earlier = append(slices.Clone(h.Loop.Earlier), h.Loop.Request)
	}
	h.Loop.CriticalSince, h.Loop.Request, h.Loop.HealthyPasses, h.Loop.Unverified = "", "", 0, 0
	h.UpdatedAt = now.UTC().Format(time.RFC3339)
}
