package health

import (
	"errors"
	"fmt"
	"time"

	"signalbox/internal/workflow"
)

// State is the document state.json. The CI control layer reads it and decides whether a pass is due; the repair layer writes it. A crash leaves the
// last written state: the next pass resumes the repairs that it names.
//
// The three times LastAttemptAt, CooldownUntil and UpdatedAt are strings because the format's initial value for two of them is the empty string.
// Where set, they are RFC 3339; Signalbox writes UTC and whole seconds.
type State struct {
	// RetryRequired: the last repair failed, and another is due after CooldownUntil. It is never set in a critical state.
	RetryRequired bool `json:"retry_required"`
	// RunCount counts finished passes, whatever their result.
	RunCount int `json:"run_count"`
	// LastErrorID and LastErrorSummary describe the error that a person should hear of first: the most severe one of the last pass or, once a repair
	// failed, the one whose repair failed last. They stay when the error is gone; both are empty before the first error. The id is one line of at
	// most 200 bytes, the summary up to 4000 characters on any number of lines.
	LastErrorID      string `json:"last_error_id"`
	LastErrorSummary string `json:"last_error_summary"`
	// LastAttemptAt is when the last repair started; empty before the first.
	LastAttemptAt string `json:"last_attempt_at"`
	// CooldownUntil is when the next repair may start, 300 seconds after the one before failed; empty otherwise. A pass before that does nothing.
	CooldownUntil string `json:"cooldown_until"`
	// TotalErrorsDetected counts errors: one of Signalbox's own once for as long as it is open, one that another program reports each time. It only
	// grows, as the other totals do: neither a healthy pass nor a person resets them.
	TotalErrorsDetected int `json:"total_errors_detected"`
	// TotalFixesAttempted counts the repairs that were started. A resumed one counts once.
	TotalFixesAttempted int `json:"total_fixes_attempted"`
	// TotalFixesSucceeded counts the repairs whose run was merged and whose check passed. One that does not hold is not subtracted; see Loop.Undone.
	TotalFixesSucceeded int `json:"total_fixes_succeeded"`
	// LastHealthStatus is Unknown, Healthy, Degraded or Critical. Another program's word counts as not healthy.
	LastHealthStatus string `json:"last_health_status"`
	// ContinuousFailureCount counts failed passes in a row; at CriticalFailures the status becomes critical. A success, a healthy pass or a person
	// sets it to 0.
	ContinuousFailureCount int `json:"continuous_failure_count"`
	// CreatedAt is when the document was first written. UpdatedAt is when it was last written: a time too far after it comes from another clock.
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	// Loop holds everything that Signalbox adds to the published format, under one key.
	Loop Loop `json:"signalbox,omitzero"`
	// Unknown holds keys of other programs. They survive every update.
	Unknown workflow.Unknown `json:",embed"`
}

// New returns state.json as it is before the first pass: unknown, with every counter at zero.
func New(now time.Time) State {
	at := now.UTC().Format(time.RFC3339)
	return State{LastHealthStatus: Unknown, CreatedAt: at, UpdatedAt: at}
}

// Values of last_health_status. The published format allows any text; any other value means that the project is not known to be healthy.
const (
	// Unknown: no look has happened yet, or the last one could not see enough to tell. The next look decides.
	Unknown = "unknown"
	// Healthy: the last look found nothing. The next is due after the interval.
	Healthy = "healthy"
	// Degraded: an error was found, and its repair is due, failed, or not verified yet.
	Degraded = "degraded"
	// Critical: repairs failed in CriticalFailures passes in a row. Only a person, or HealthyPasses passes without findings, end it.
	Critical = "critical"
)

// The rules of the self-healing loop. The format of state.json publishes the first two, so that other repair layers can follow them.
const (
	// RepairCooldown is the time between the end of a pass in which a repair failed and the next repair.
	RepairCooldown = 300 * time.Second
	// CriticalFailures is how many passes in a row must fail before only a person can allow repairs again.
	CriticalFailures = 3
	// Interval is the default time between the beginnings of two looks at a healthy project.
	Interval = time.Hour
)

// mostCounted is the largest integer that every JSON reader keeps exact (2^53-1). A counter near it was not counted but written by mistake.
const mostCounted = 1<<53 - 1

// Loop is the loop's own memory, for which the published format has no key.
type Loop struct {
	// Attempting is true while a repair reported with FactFixAttempted has no reported end. After a crash it stays true until the next end is
	// reported. The passes of Signalbox itself use Error.Attempting.
	Attempting bool `json:"attempting,omitzero"`
	// CriticalSince is when the present critical state began, in RFC 3339 to the nanosecond. It is part of the key of its request, so each critical
	// state gets its own, however short the one before was.
	CriticalSince string `json:"critical_since,omitzero"`
	// Request is the id of the request about the present critical state; empty until it is opened.
	Request string `json:"request,omitzero"`
	// Earlier are the ids of open requests about earlier critical states. The pass that ends with Well closes them; see ToClose.
	Earlier []string `json:"earlier_requests,omitempty"`
	// Unclosed are the ids of requests about resolved problems that the forge failed to close. Each pass tries again.
	Unclosed []string `json:"unclosed_requests,omitempty"`

	// NextRunAt is when a healthy project is looked at again, in RFC 3339; empty before the first pass. It is separate from the cooldown: with one
	// field, a schedule and a cooldown of the same length would starve each other.
	NextRunAt string `json:"next_run_at,omitempty"`
	// HealthyPasses counts passes in a row that found nothing, up to the constant of that name.
	HealthyPasses int `json:"healthy_passes,omitzero"`
	// Errors are the open errors, in the order in which they were found, and the repaired ones until they are verified.
	Errors []Error `json:"errors,omitempty"`
	// Pass is the current pass; nil between passes. After a crash it is the pass to resume.
	Pass *Pass `json:"pass,omitempty"`
	// Unverified is the failure count from before a repair that is not verified yet. It is added back if the repair does not hold.
	Unverified int `json:"unverified_failures,omitzero"`
	// Undone counts repairs that were recorded as successful and did not hold. It only grows.
	Undone int `json:"undone,omitzero"`
	// Stopped says in one line why the last pass ended early; empty if it did not. A killed process leaves it empty too.
	Stopped string `json:"stopped,omitempty"`
	// Unseen are the checks without a verdict in the last pass.
	Unseen []Unseen `json:"unseen,omitempty"`
	// Unknown holds keys of later versions.
	Unknown workflow.Unknown `json:",embed"`
}

// CriticalKey returns the key of the request about the present critical state; empty if the state isn't critical. A forge keeps one request for each
// key, so a pass that is repeated after a crash opens no second one.
func (h *State) CriticalKey() string {
	if h.LastHealthStatus != Critical || h.Loop.CriticalSince == "" {
		return ""
	}
	return "health-critical-" + h.Loop.CriticalSince
}

const (
	// maxErrorID is in bytes: an id is part of file names and keys.
	maxErrorID = 200
	// maxSummary is in characters. The full message is in the log of the pass.
	maxSummary = 4000
)

// Check returns a *workflow.InvalidError, which points to the key, if the document breaks a rule that every state.json must keep, whichever program
// wrote it: a time is RFC 3339 or empty, and a counter is neither negative nor too large for other readers. The store checks each document that it
// reads or writes.
func (h *State) Check() error {
	for _, at := range []struct{ name, text string }{{"last_attempt_at", h.LastAttemptAt}, {"cooldown_until", h.CooldownUntil},
		{"created_at", h.CreatedAt}, {"updated_at", h.UpdatedAt}} {
		if _, err := time.Parse(time.RFC3339, at.text); at.text != "" && err != nil {
			return &workflow.InvalidError{Pointer: "/" + at.name, Reason: fmt.Sprintf("%s %q is not a time (RFC 3339)", at.name, at.text)}
		}
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"run_count", h.RunCount}, {"total_errors_detected", h.TotalErrorsDetected}, {"total_fixes_attempted", h.TotalFixesAttempted},
		{"total_fixes_succeeded", h.TotalFixesSucceeded}, {"continuous_failure_count", h.ContinuousFailureCount}} {
		if count.n < 0 {
			return &workflow.InvalidError{Pointer: "/" + count.name, Reason: fmt.Sprintf("%s is %d", count.name, count.n)}
		}
		if count.n > mostCounted {
			return &workflow.InvalidError{Pointer: "/" + count.name, Reason: fmt.Sprintf("%s is %d, too large for a counter", count.name, count.n)}
		}
	}
	return nil
}

// Validate is Check plus the rules that only Signalbox's own writer keeps. Documents of other programs may break them, and are read all the same. The
// error joins all rules that are broken.
func (h *State) Validate() error {
	err := h.Check()
	if h.CreatedAt == "" || h.UpdatedAt == "" {
		err = errors.Join(err, errors.New("created_at and updated_at must be set"))
	}
	if h.LastHealthStatus == "" {
		err = errors.Join(err, errors.New("last_health_status is empty"))
	}
	if h.TotalFixesSucceeded > h.TotalFixesAttempted {
		err = errors.Join(err, fmt.Errorf("total_fixes_succeeded is %d of total_fixes_attempted %d", h.TotalFixesSucceeded, h.TotalFixesAttempted))
	}
	if h.LastHealthStatus == Critical && h.RetryRequired {
		err = errors.Join(err, errors.New("retry_required is set in a critical state, which waits for a person"))
	}
	return err
}

// Totals are the counters of state.json that only grow, under the same keys.
//
// They are also kept in .signalbox/heal/totals.json, because state.json may be lost between two CI runs.
type Totals struct {
	RunCount            int `json:"run_count"`
	TotalErrorsDetected int `json:"total_errors_detected"`
	TotalFixesAttempted int `json:"total_fixes_attempted"`
	TotalFixesSucceeded int `json:"total_fixes_succeeded"`
}

// RestoreTotals raises the counters to earlier values after state.json was lost or rewritten. A counter that is higher already stays.
func (h *State) RestoreTotals(t Totals) {
	h.RunCount = max(h.RunCount, t.RunCount)
	h.TotalErrorsDetected = max(h.TotalErrorsDetected, t.TotalErrorsDetected)
	h.TotalFixesAttempted = max(h.TotalFixesAttempted, t.TotalFixesAttempted)
	h.TotalFixesSucceeded = max(h.TotalFixesSucceeded, t.TotalFixesSucceeded)
}
