package health

import (
	"fmt"
	"slices"

	"signalbox/internal/workflow"
)

// HealthyPasses is how many passes in a row must find nothing before requests about errors are closed,
// and before a critical state is left without a person.
const HealthyPasses = 3

// Error is an error that was found and is not known to be gone.
type Error struct {
	// ID is ErrorID's; Check found it.
	ID       string            `json:"id"`
	Check    string            `json:"check"`
	Severity workflow.Severity `json:"severity,omitempty"`
	Summary  string            `json:"summary"`
	Since    string            `json:"since"`
	// Times counts from 1 how often it came, after it was repaired and gone each time.
	Times int `json:"times"`
	// Request is the id of the request about it; empty until it is open.
	Request string `json:"request,omitempty"`
	// Attempts are the repairs begun; Attempting: the end of the last is not known.
	Attempts   int  `json:"attempts,omitzero"`
	Attempting bool `json:"attempting,omitzero"`
	// Judged is the run that the last repair ended with.
	Judged string `json:"judged,omitempty"`
	// Fixed: the last repair succeeded, which the next pass verifies.
	Fixed   bool             `json:"fixed,omitzero"`
	Unknown workflow.Unknown `json:",embed"`
}

// Key identifies the request about the error, once for each time that it comes.
func (e *Error) Key() string {
	if e.Times > 1 {
		return fmt.Sprintf("health-error-%s-%d", e.ID, e.Times)
	}
	return "health-error-" + e.ID
}

// Pass is one pass of the repair layer and what it did.
type Pass struct {
	ID        string `json:"id"`
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at,omitempty"`
	// Result is what the pass came to, empty while it is in hand.
	Result  Result   `json:"result,omitempty"`
	Repairs []Repair `json:"repairs,omitempty"`
	// Again is how many passes right after it came to the same, the last of which was LastID and ended at LastAt; of a log of passes.
	Again   int              `json:"again,omitzero"`
	LastID  string           `json:"last_id,omitempty"`
	LastAt  string           `json:"last_at,omitempty"`
	Unknown workflow.Unknown `json:",embed"`
}

// Repair is what a pass did about one error.
type Repair struct {
	ErrorID string `json:"error_id"`
	Check   string `json:"check"`
	Summary string `json:"summary"`
	Request string `json:"request,omitempty"`
	Run     string `json:"run,omitempty"`
	// Outcome is empty until it is known.
	Outcome RepairOutcome `json:"outcome,omitempty"`
	// Why the repair did not succeed, one line.
	Why string `json:"why,omitempty"`
	// Next is what a person can do about it, as data.
	Next []workflow.NextStep `json:"next_steps,omitempty"`
	// Tokens, CostMicroUSD and Calls are what the run's agents used.
	Tokens       int64            `json:"tokens,omitzero"`
	CostMicroUSD int64            `json:"cost_micro_usd,omitzero"`
	Calls        int              `json:"calls,omitzero"`
	Unknown      workflow.Unknown `json:",embed"`
}

// RepairOutcome is what a repair came to.
type RepairOutcome string

const (
	RepairFixed   RepairOutcome = "fixed"   // merged, and the check passed on what was merged
	RepairFailed  RepairOutcome = "failed"  // the run ended without a merge
	RepairWaiting RepairOutcome = "waiting" // the run waits for a person: for an approval, or until what is in its way is gone
)

// Result is what a pass came to.
type Result string

const (
	PassHealthy  Result = "healthy"  // nothing failed, and what failed before passed
	PassRepaired Result = "repaired" // every error was repaired; the next pass verifies it
	PassFailed   Result = "failed"   // a repair failed; the next waits for the cooldown
	PassWaiting  Result = "waiting"  // a repair waits for a person
	PassCritical Result = "critical" // only a person goes on, or HealthyPasses in a row
	PassUnknown  Result = "unknown"  // nothing failed, but nothing shows that all is well
	PassCooldown Result = "cooldown" // nothing was done: a repair failed just before
)

// Failure is a check that failed.
type Failure struct {
	Check, ErrorID, Summary string
	Severity                workflow.Severity
}

// Error finds an open error; nil if it is not open.
func (h *State) Error(id string) *Error {
	i := slices.IndexFunc(h.Loop.Errors, func(e Error) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &h.Loop.Errors[i]
}

// anyOpen reports whether an error is open that no repair is known to have mended.
func (h *State) anyOpen() bool {
	return slices.ContainsFunc(h.Loop.Errors, func(e Error) bool { return !e.Fixed })
}

// About says whether the request is one about a critical time, the present one or an earlier one.
func (h *State) About(request string) (critical, earlier bool) {
	return request != "" && h.Loop.Request == request, slices.Contains(h.Loop.Earlier, request)
}
