package health

import (
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// Unseen is a check without a verdict in the last pass: it neither failed nor passed, for example because its service could not be asked.
type Unseen struct {
	// Check is the name of the check.
	Check string `json:"check"`
	// Why says in one line why there was no verdict.
	Why string `json:"why"`
	// Unknown holds keys of later versions.
	Unknown workflow.Unknown `json:",embed"`
}

// Sight lists the checks of a pass that did not fail: those that passed, and those without a verdict.
type Sight struct {
	// Passed are the names of checks that passed, in this pass or within their interval.
	Passed []string
	// Unseen are the checks without a verdict. None of their errors may be closed.
	Unseen []Unseen
}

// Shows reports whether a pass without failures proves that the project is healthy: at least one check passed, and every check with an open error
// had a verdict. A check that never has a verdict therefore doesn't keep a project from being healthy, and no error counts as gone because a pass
// could not look.
func (h *State) Shows(s Sight) bool {
	open := func(u Unseen) bool {
		return slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return e.Check == u.Check })
	}
	return len(s.Passed) > 0 && !slices.ContainsFunc(s.Unseen, open)
}

// Unclear ends a pass that found no failure but proves nothing either, and returns it. Open errors stay open; a healthy project becomes unknown.
func (h *State) Unclear(pass Pass, every time.Duration, now time.Time) Pass {
	pass.Result, pass.EndedAt = PassUnknown, now.UTC().Format(time.RFC3339)
	h.RunCount++
	h.schedule(pass, every, now)
	switch h.LastHealthStatus {
	case Critical:
		pass.Result = PassCritical
	case Healthy:
		h.LastHealthStatus = Unknown
	}
	return pass
}

// whyUndone is the reason recorded for a merged repair that did not hold.
const whyUndone = "merged, and the look that verifies it found the error again"

// verify compares the repairs of earlier passes with what failed in the look after them, and reports whether all held. If the error is found again,
// the repair failed after all, and the failures before it count again: a merge alone does not reset the count. A repair
// is verified when its check had a verdict and did not fail.
func (h *State) verify(failures []Failure) (held bool) {
	held = true
	for i := range h.Loop.Errors {
		e := &h.Loop.Errors[i]
		if !e.Fixed || h.judged(e.ID) || !slices.ContainsFunc(failures, func(f Failure) bool { return f.ErrorID == e.ID }) {
			continue
		}
		e.Fixed, held = false, false
		h.LastErrorID, h.LastErrorSummary = e.ID, e.Summary
		r := h.repair(e.ID)
		r.Run, r.Outcome, r.Why = e.Judged, RepairFailed, whyUndone
		h.Loop.Undone++
	}
	if !held {
		h.ContinuousFailureCount += h.Loop.Unverified
	}
	h.Loop.Errors = slices.DeleteFunc(h.Loop.Errors, func(e Error) bool {
		return e.Fixed && !h.judged(e.ID) && !slices.ContainsFunc(failures, func(f Failure) bool { return f.Check == e.Check }) &&
			!slices.ContainsFunc(h.Loop.Unseen, func(u Unseen) bool { return u.Check == e.Check })
	})
	if !held || !slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return e.Fixed }) {
		h.Loop.Unverified = 0
	}
	return held
}

// Gone removes an error's repair from the current pass because its check passes now. The error stays open until HealthyPasses passes find nothing,
// like any error that goes away by itself.
func (h *State) Gone(errorID string) {
	if h.Loop.Pass != nil {
		h.Loop.Pass.Repairs = slices.DeleteFunc(h.Loop.Pass.Repairs, func(r Repair) bool { return r.ErrorID == errorID && r.Outcome == "" })
	}
}

// Unmet removes findings from the current pass that an interrupted look recorded and this one did not repeat: without a failing check there is
// nothing to verify a repair against. If the pass did nothing else, it is removed too.
func (h *State) Unmet(failures []Failure) {
	p := h.Loop.Pass
	if p == nil {
		return
	}
	p.Repairs = slices.DeleteFunc(p.Repairs, func(r Repair) bool {
		return r.Outcome == "" && !slices.ContainsFunc(failures, func(f Failure) bool { return f.ErrorID == r.ErrorID })
	})
	if len(p.Repairs) == 0 {
		h.Loop.Pass = nil
	}
}
