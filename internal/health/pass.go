package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// Found records what a look found, in the current pass or, if none is running, in the given one.
//
// A failure with the id of an open error is that error; any other opens a new one, which is counted. Errors are taken in the order of their severity,
// blockers first.
//
// The pass repairs nothing if the state is critical, or if an earlier repair turned out not to hold: that counts as a failed repair, so its
// cooldown comes first.
func (h *State) Found(pass Pass, failures []Failure, now time.Time) {
	if h.Unmet(failures); h.Loop.Pass == nil {
		h.Loop.Pass = &pass
	}
	h.Loop.HealthyPasses = 0
	h.UpdatedAt = now.UTC().Format(time.RFC3339)
	failures, held := slices.Clone(failures), h.verify(failures)
	rank := []workflow.Severity{workflow.Blocker, workflow.Major, workflow.Minor}
	slices.SortStableFunc(failures, func(a, b Failure) int {
		return cmp.Compare(slices.Index(rank, a.Severity), slices.Index(rank, b.Severity))
	})
	for i := range failures {
		failures[i].Summary = summarized(failures[i].Summary)
	}
	// The most severe failure is the last error. A person must hear first of an error whose repair failed, so that one stays in place in a critical
	// state or after a repair that did not hold.
	told := 0
	if h.LastHealthStatus == Critical || !held {
		told = max(0, slices.IndexFunc(failures, func(f Failure) bool { return f.ErrorID == h.LastErrorID }))
	}
	if len(failures) > 0 {
		h.LastErrorID, h.LastErrorSummary = failures[told].ErrorID, failures[told].Summary
	}
	for _, f := range failures {
		if h.judged(f.ErrorID) {
			continue // already handled in this pass; the next one verifies it
		}
		if h.Error(f.ErrorID) == nil { // an open error is not counted again
			h.Loop.Errors = append(h.Loop.Errors, Error{ID: f.ErrorID, Check: f.Check, Severity: f.Severity, Summary: f.Summary,
				Since: now.UTC().Format(time.RFC3339), Times: 1})
			h.TotalErrorsDetected++
		}
		if h.LastHealthStatus != Critical {
			h.LastHealthStatus = Degraded
		}
		if held {
			h.repair(f.ErrorID)
		}
	}
}

// Again records that an error came back: its request was closed, but the error is still there. The next repair opens a new request.
func (h *State) Again(errorID string) {
	if e := h.Error(errorID); e != nil {
		e.Times, e.Request = e.Times+1, ""
	}
}

// repair returns the current pass's entry for an error and adds one if needed. It returns nil outside a pass or for an unknown error.
func (h *State) repair(errorID string) *Repair {
	p, e := h.Loop.Pass, h.Error(errorID)
	if p == nil || e == nil {
		return nil
	}
	i := slices.IndexFunc(p.Repairs, func(r Repair) bool { return r.ErrorID == errorID })
	if i < 0 {
		i = len(p.Repairs)
		p.Repairs = append(p.Repairs, Repair{ErrorID: errorID, Check: e.Check, Summary: inShort(e.Summary), Request: e.Request})
	}
	return &p.Repairs[i]
}

// judged reports whether the current pass has an outcome for the error.
func (h *State) judged(errorID string) bool {
	p := h.Loop.Pass
	return p != nil && slices.ContainsFunc(p.Repairs, func(r Repair) bool { return r.ErrorID == errorID && r.Outcome != "" })
}

// ResumeRepairs adds every error whose repair was started earlier to the pass, starting the pass if needed, and returns their ids. These repairs
// are resumed before the pass looks for anything new, so a process killed in mid-repair never leaves one unjudged.
func (h *State) ResumeRepairs(pass Pass) (open []string) {
	for _, e := range h.Loop.Errors {
		if !e.Attempting || h.judged(e.ID) {
			continue
		}
		if h.Loop.Pass == nil {
			h.Loop.Pass = &pass
		}
		h.repair(e.ID)
		open = append(open, e.ID)
	}
	return open
}

// ToRepair returns the ids of the errors in the current pass whose repair has no outcome yet, most severe first. In a critical state it returns
// none: the pass only records its findings.
func (h *State) ToRepair() (ids []string) {
	if h.Loop.Pass == nil || h.LastHealthStatus == Critical {
		return nil
	}
	for _, r := range h.Loop.Pass.Repairs {
		if r.Outcome == "" {
			ids = append(ids, r.ErrorID)
		}
	}
	return ids
}

// Attempt records that a repair of the error starts, on behalf of a request. It must be saved before the run begins, so that a crash can't hide a
// repair that was paid for. Calling it again before Judge changes nothing: a resumed repair counts once.
func (h *State) Attempt(errorID, request string, now time.Time) {
	e := h.Error(errorID)
	if e == nil {
		return
	}
	e.Request = request
	h.Loop.Unclosed = slices.DeleteFunc(h.Loop.Unclosed, func(unclosed string) bool { return unclosed == request })
	if r := h.repair(errorID); r != nil {
		r.Request = request
	}
	if e.Attempting {
		return
	}
	e.Attempts, e.Attempting = e.Attempts+1, true
	h.TotalFixesAttempted++
	h.LastAttemptAt = now.UTC().Format(time.RFC3339)
	h.UpdatedAt = h.LastAttemptAt
}

// Judge records the outcome of a repair. Only the first outcome counts. RepairWaiting leaves the attempt open, so a later pass resumes it. An outcome
// of an error that is no longer open, or of a repair that was never started, is ignored.
func (h *State) Judge(judged Repair, now time.Time) {
	e, r := h.Error(judged.ErrorID), h.repair(judged.ErrorID)
	if e == nil || r == nil || judged.Outcome == "" || !e.Attempting && judged.Outcome != RepairWaiting || h.judged(e.ID) {
		return
	}
	r.Next = judged.Next
	r.Run, r.Outcome, r.Why, r.Tokens, r.CostMicroUSD, r.Calls = judged.Run, judged.Outcome, judged.Why, judged.Tokens, judged.CostMicroUSD, judged.Calls
	h.UpdatedAt = now.UTC().Format(time.RFC3339)
	if judged.Outcome == RepairWaiting {
		return
	}
	e.Attempting, e.Judged = false, judged.Run
	if judged.Outcome == RepairFixed {
		e.Fixed = true
		h.TotalFixesSucceeded++
		return
	}
	h.LastErrorID, h.LastErrorSummary = e.ID, e.Summary
}

// inShort returns up to 200 characters of a text on one line, for lists. Lines are joined with " · ", or with a space after a colon.
func inShort(text string) string {
	const most = 200
	var lines []string
	for said := range strings.Lines(text) {
		if said = wording.OneLine(said); said != "" {
			lines = append(lines, said)
		}
	}
	line := []rune(strings.ReplaceAll(strings.Join(lines, " · "), ": · ", ": "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
