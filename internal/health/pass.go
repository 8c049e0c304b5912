package health

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"signalbox/internal/workflow"
)

// Found writes down what a look found, in the pass that is in hand or, if none is, in a new one. An error
// that is open already is the same error. In a critical state nothing is repaired, and neither is anything in a pass that finds
// that a repair did not hold: its cooldown begins before anything else does.
func (h *State) Found(pass Pass, failures []Failure, now time.Time) {
	if h.Unmet(failures); h.Loop.Pass == nil {
		h.Loop.Pass = &pass
	}
	h.Loop.HealthyPasses = 0
	h.UpdatedAt = now.UTC().Format(time.RFC3339)
	failures, held := slices.Clone(failures), h.verify(failures)
	slices.SortStableFunc(failures, func(a, b Failure) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	for i := range failures {
		failures[i].Summary = summarized(failures[i].Summary)
	}
	h.tell(failures, held)
	for _, f := range failures {
		if h.judged(f.ErrorID) {
			continue // in this pass: what it did is verified by the next
		}
		h.open(f, now)
		if h.LastHealthStatus != Critical {
			h.LastHealthStatus = Degraded
		}
		if held {
			h.repair(f.ErrorID)
		}
	}
}

// tell names the most severe of the failures as the last error, unless another is what a person has to know of: one whose repair
// failed, in a critical state or because it did not hold.
func (h *State) tell(failures []Failure, held bool) {
	told := 0
	if h.LastHealthStatus == Critical || !held {
		told = max(0, slices.IndexFunc(failures, func(f Failure) bool { return f.ErrorID == h.LastErrorID }))
	}
	if len(failures) > 0 {
		h.LastErrorID, h.LastErrorSummary = failures[told].ErrorID, failures[told].Summary
	}
}

func rank(s workflow.Severity) int {
	return slices.Index([]workflow.Severity{workflow.Blocker, workflow.Major, workflow.Minor}, s)
}

// open counts an error that is new.
func (h *State) open(f Failure, now time.Time) {
	if h.Error(f.ErrorID) != nil {
		return
	}
	h.Loop.Errors = append(h.Loop.Errors, Error{ID: f.ErrorID, Check: f.Check, Severity: f.Severity, Summary: f.Summary,
		Since: now.UTC().Format(time.RFC3339), Times: 1})
	h.TotalErrorsDetected++
}

// Again says that the request about an error is closed although the error is there: it came again.
func (h *State) Again(errorID string) {
	if e := h.Error(errorID); e != nil {
		e.Times, e.Request = e.Times+1, ""
	}
}

// repair is the pass's entry about an error; nil while no pass is in hand.
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

func (h *State) judged(errorID string) bool {
	p := h.Loop.Pass
	return p != nil && slices.ContainsFunc(p.Repairs, func(r Repair) bool { return r.ErrorID == errorID && r.Outcome != "" })
}

// Settle brings the errors whose repair was begun before into the pass, and starts it with them. It
// returns their ids: each repair is gone on with before anything new is looked for.
func (h *State) Settle(pass Pass) (open []string) {
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

// ToRepair are the errors of the pass in hand whose repair is not judged, most severe first. In a critical state there are none:
// the pass only notes what it found.
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

// Attempt says that a repair of the error begins, answering the request. One that was begun before and
// not judged is the same one.
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

// Judge says what the repair of an error came to. A repair is judged once; one that waits is none yet, begun or not.
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

// inShort is the beginning of a text, for lists, with a mark between its lines, unless one is the head of the next.
func inShort(text string) string {
	const most = 200
	var lines []string
	for said := range strings.Lines(text) {
		if said = workflow.OneLine(said); said != "" {
			lines = append(lines, said)
		}
	}
	line := []rune(strings.ReplaceAll(strings.Join(lines, " · "), ": · ", ": "))
	if len(line) > most {
		line = append(line[:most-1], '…')
	}
	return string(line)
}
