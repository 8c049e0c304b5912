package health

import "slices"

// whyUndone is said of a repair that was merged and did not hold.
const whyUndone = "merged, and the look that verifies it found the error again"

// verify holds the repairs of the passes before against what failed in the look after them, and reports whether all held. One
// whose error is found again failed after all (H3, patterns 3 and 4), and so did those before it: merging is no success that
// begins the count anew. One is verified when its check could be looked at and says nothing.
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
	h.forgetVerified(failures)
	if !held || !slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return e.Fixed }) {
		h.Loop.Unverified = 0
	}
	return held
}

// Gone says that an error needs no repair in the pass in hand: its check passes. It stays open until HealthyPasses found nothing,
// as one that goes away by itself.
func (h *State) Gone(errorID string) {
	if h.Loop.Pass != nil {
		h.Loop.Pass.Repairs = slices.DeleteFunc(h.Loop.Pass.Repairs, func(r Repair) bool { return r.ErrorID == errorID && r.Outcome == "" })
	}
}

// Unmet takes out of the pass in hand what the look before it was cut off found and this one does not: no check fails that a
// repair could be held against. A pass in which nothing else was done is none.
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

func (h *State) forgetVerified(failures []Failure) {
	h.Loop.Errors = slices.DeleteFunc(h.Loop.Errors, func(e Error) bool {
		return e.Fixed && !h.judged(e.ID) && !slices.ContainsFunc(failures, func(f Failure) bool { return f.Check == e.Check }) &&
			!slices.ContainsFunc(h.Loop.Unseen, func(u Unseen) bool { return u.Check == e.Check })
	})
}
