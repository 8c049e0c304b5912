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
	// ID is made by ErrorID: it stays the same as long as the same thing fails. Check is the name of the check that found the error.
	ID    string `json:"id"`
	Check string `json:"check"`
	// Severity is the check's, when the error was found.
	Severity workflow.Severity `json:"severity,omitempty"`
	// Summary is the start and the end of the check's message: up to 4000 characters, with a line LeftOut for the rest.
	Summary string `json:"summary"`
	// Since is when the error was first found, in RFC 3339 and UTC.
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
	Fixed bool `json:"fixed,omitzero"`
	// Unknown holds keys of later versions.
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
	// ID is unique among the passes of the project.
	ID string `json:"id"`
	// StartedAt and EndedAt are RFC 3339, in UTC; EndedAt is empty while the pass is running.
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at,omitempty"`
	// Result is empty while the pass is running.
	Result Result `json:"result,omitempty"`
	// Repairs are the errors that the pass found, and what it did about each.
	Repairs []Repair `json:"repairs,omitempty"`
	// Again, LastID and LastAt are set only in the log of passes, where consecutive passes with the same result are one entry: Again counts the
	// repeats after the first, LastID is the id of the last one, and LastAt is when it ended.
	Again  int    `json:"again,omitzero"`
	LastID string `json:"last_id,omitempty"`
	LastAt string `json:"last_at,omitempty"`
	// Unknown holds keys of later versions.
	Unknown workflow.Unknown `json:",embed"`
}

// Repair is what a pass did about one error. One that has no outcome yet is still to do, or was cut off and is resumed.
type Repair struct {
	// ErrorID is the error's id, and Check the name of the check that found it.
	ErrorID string `json:"error_id"`
	Check   string `json:"check"`
	// Summary is the error's, on one line of at most 200 characters.
	Summary string `json:"summary"`
	// Request is the id of the request that the repair carries out, Run that of its run; empty until there is one.
	Request string `json:"request,omitempty"`
	Run     string `json:"run,omitempty"`
	// Outcome is empty until Judge sets it.
	Outcome RepairOutcome `json:"outcome,omitempty"`
	// Why says in one line why the repair did not succeed.
	Why string `json:"why,omitempty"`
	// Next lists what a person can do about it; empty if the next pass tries again without help.
	Next []workflow.NextStep `json:"next_steps,omitempty"`
	// Tokens, CostMicroUSD and Calls are the usage of the run's agents; the cost is in millionths of a US dollar.
	Tokens       int64 `json:"tokens,omitzero"`
	CostMicroUSD int64 `json:"cost_micro_usd,omitzero"`
	Calls        int   `json:"calls,omitzero"`
	// Unknown holds keys of later versions.
	Unknown workflow.Unknown `json:",embed"`
}

// RepairOutcome is how a repair ended. Only the first outcome of a repair counts, except that a waiting repair may end later.
type RepairOutcome string

const (
	// RepairFixed: the run was merged, and the check passed on the merged tree. The error stays open until the next pass verifies it.
	RepairFixed RepairOutcome = "fixed"
	// RepairFailed: the run ended without a merge, or the merged repair did not hold. The cooldown starts when the pass ends, and the next pass tries
	// again with a new run.
	RepairFailed RepairOutcome = "failed"
	// RepairWaiting: the run waits for a person, for an approval or until an obstacle is gone. A later pass resumes it.
	RepairWaiting RepairOutcome = "waiting"
)

// Result is how a pass ended. If repairs ended differently, the worst outcome names the pass.
type Result string

const (
	// PassHealthy: nothing failed, and every check with an open error passed. The failure count is zero again.
	PassHealthy Result = "healthy"
	// PassRepaired: every error was repaired. The next pass, which is due at once, verifies the repairs. Until then the failure count is set apart.
	PassRepaired Result = "repaired"
	// PassFailed: a repair failed. The failure count grows, and the next repair waits for the cooldown.
	PassFailed Result = "failed"
	// PassWaiting: a repair waits for a person. It counts as neither a success nor a failure.
	PassWaiting Result = "waiting"
	// PassCritical: repairs have stopped. A person rearms the loop, or HealthyPasses passes without findings end it.
	PassCritical Result = "critical"
	// PassUnknown: nothing failed, but too few checks had a verdict to call the project healthy.
	PassUnknown Result = "unknown"
	// PassCooldown: the pass did nothing, because a repair failed shortly before. It is not counted.
	PassCooldown Result = "cooldown"
)

// Failure is a failed check as a look reports it. Found makes an Error of it, or recognizes one that is open.
type Failure struct {
	// Check is the name of the check, ErrorID the id that ErrorID makes of its message, and Summary the whole message, which Found shortens.
	Check, ErrorID, Summary string
	// Severity is the one that the configuration gives to the check.
	Severity workflow.Severity
}

// Error returns the open error with this id, or nil. The result points into the state, and is valid until an error is added or removed.
func (h *State) Error(id string) *Error {
	i := slices.IndexFunc(h.Loop.Errors, func(e Error) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return &h.Loop.Errors[i]
}

// About reports whether the request with this id is about the present critical state, or about an earlier one.
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
	// The end begins with a partial line, which is left out unless it is long.
	if part, rest, found := strings.Cut(end, "\n"); found && len([]rune(part)) <= most {
		end = rest
	}
	return above + end
}
