package health

import "slices"

// whyUndone is the reason recorded for a merged repair that did not hold.
const whyUndone = "merged, and the look that verifies it found the error again"

// verify compares the repairs of earlier passes with what failed in the look after them, and reports whether all held. If the error is found again,
// the repair failed after all (SPEC H3, patterns 3 and 4), and the failures before it count again: a merge alone does not reset the count. A repair
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
