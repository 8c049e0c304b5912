package health

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
)

// HealthyPasses is the number of passes in a row that must find nothing before requests about errors are closed and a critical state ends without a
// person.
const HealthyPasses = 3

// Error is an error that was found and may still be there. It is open from the first pass that finds it until a pass verifies its repair, or until
// HealthyPasses passes found nothing.
type Error struct {
	// ID is made by ErrorID. Check is the name of the check that found the error.
	ID       string            `json:"id"`
	Check    string            `json:"check"`
	Severity workflow.Severity `json:"severity,omitempty"`
	// Summary is the start and the end of the check's message.
	Summary string `json:"summary"`
	// Since is when the error was first found, in RFC 3339.
	Since string `json:"since"`
	// Times counts how often the error appeared. It starts at 1 and grows each time the error comes back after its request was closed.
	Times int `json:"times"`
	// Request is the id of the request about the error; empty until one is opened.
	Request string `json:"request,omitempty"`
	// Attempts counts the repairs started. Attempting is true from Attempt until Judge; after a crash the next pass sees it and resumes the repair.
	Attempts   int  `json:"attempts,omitzero"`
	Attempting bool `json:"attempting,omitzero"`
	// Judged is the id of the run in which the last repair ended.
	Judged string `json:"judged,omitempty"`
	// Fixed is true when the last repair was merged and its check passed. The next pass verifies it, and then removes the error or reopens it.
	Fixed   bool             `json:"fixed,omitzero"`
	Unknown workflow.Unknown `json:",embed"`
}

// Key returns the key of the request about the error. It changes each time the error comes back, so each time gets its own request.
func (e *Error) Key() string {
	if e.Times > 1 {
		return fmt.Sprintf("health-error-%s-%d", e.ID, e.Times)
	}
	return "health-error-" + e.ID
}

// Pass is one pass of the repair layer and what it did. It is written to state.json while it runs; after a crash the next process resumes it from
// there.
type Pass struct {
	ID        string `json:"id"`
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at,omitempty"`
	// Result is empty while the pass is running.
	Result  Result   `json:"result,omitempty"`
	Repairs []Repair `json:"repairs,omitempty"`
	// In the log of passes, consecutive passes with the same result are one entry: Again counts the repeats, LastID is the last of them, and LastAt
	// is when it ended.
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
	// Outcome is empty until Judge sets it.
	Outcome RepairOutcome `json:"outcome,omitempty"`
	// Why says in one line why the repair did not succeed.
	Why string `json:"why,omitempty"`
	// Next lists what a person can do about it.
	Next []workflow.NextStep `json:"next_steps,omitempty"`
	// Tokens, CostMicroUSD and Calls are the usage of the run's agents; the cost is in millionths of a US dollar.
	Tokens       int64            `json:"tokens,omitzero"`
	CostMicroUSD int64            `json:"cost_micro_usd,omitzero"`
	Calls        int              `json:"calls,omitzero"`
	Unknown      workflow.Unknown `json:",embed"`
}

// RepairOutcome is how a repair ended.
type RepairOutcome string

const (
	// RepairFixed: the run was merged, and the check passed on the merged tree. The next pass verifies it.
	RepairFixed RepairOutcome = "fixed"
	// RepairFailed: the run ended without a merge, or the merged repair did not hold.
	RepairFailed RepairOutcome = "failed"
	// RepairWaiting: the run waits for a person, for an approval or until an obstacle is gone. A later pass resumes it.
	RepairWaiting RepairOutcome = "waiting"
)

// Result is how a pass ended.
type Result string

const (
	// PassHealthy: nothing failed, and every check with an open error passed.
	PassHealthy Result = "healthy"
	// PassRepaired: every error was repaired. The next pass verifies the repairs.
	PassRepaired Result = "repaired"
	// PassFailed: a repair failed. The next one waits for the cooldown.
	PassFailed Result = "failed"
	// PassWaiting: a repair waits for a person.
	PassWaiting Result = "waiting"
	// PassCritical: repairs have stopped. A person rearms the loop, or HealthyPasses passes without findings end it.
	PassCritical Result = "critical"
	// PassUnknown: nothing failed, but too few checks had a verdict to call the project healthy.
	PassUnknown Result = "unknown"
	// PassCooldown: the pass did nothing, because a repair failed shortly before.
	PassCooldown Result = "cooldown"
)

// Failure is a failed check, before it becomes an Error.
type Failure struct {
	Check, ErrorID, Summary string
	Severity                workflow.Severity
}

// Error returns the open error with this id, or nil.
func (h *State) Error(id string) *Error {
	i := slices.IndexFunc(h.Loop.Errors, func(e Error) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &h.Loop.Errors[i]
}

// About reports whether a request is about the present critical state, or about an earlier one.
func (h *State) About(request string) (critical, earlier bool) {
	return request != "" && h.Loop.Request == request, slices.Contains(h.Loop.Earlier, request)
}

// LeftOut is the line that replaces text removed from the middle of a message.
const LeftOut = "[… left out …]"

// summarized shortens a text to what state.json has room for. It keeps the beginning, which says what failed, and the end, where programs say why.
// If the text was shortened before, there is still only one gap.
func summarized(text string) string {
	text = strings.TrimSpace(text)
	runes := []rune(text)
	if len(runes) <= maxSummary {
		return text
	}
	const most = maxSummary / 4
	before, _, cut := strings.Cut(text, "\n"+LeftOut+"\n")
	head := []rune(before)
	if !cut || len(head) > most {
		head = runes[:most]
		if i := strings.LastIndexByte(string(head), '\n'); i > 0 {
			head = []rune(string(head)[:i])
		}
	}
	above := string(head) + "\n" + LeftOut + "\n"
	end := string(runes[len(runes)-maxSummary+len([]rune(above)):])
	// The partial first line of the end goes, unless it is too long to lose.
	if part, rest, found := strings.Cut(end, "\n"); found && len([]rune(part)) <= most {
		end = rest
	}
	return above + end
}
