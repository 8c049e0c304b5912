package health

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/workflow"
)

// State is the document state.json (SPEC H1), shared between the CI control
// layer, which reads and decides, and the repair layer, which writes.
// The three times are strings because the format's initial value for two of
// them is the empty string; where set they are RFC 3339.
type State struct {
	RetryRequired          bool   `json:"retry_required"`
	RunCount               int    `json:"run_count"`
	LastErrorID            string `json:"last_error_id"`
	LastErrorSummary       string `json:"last_error_summary"`
	LastAttemptAt          string `json:"last_attempt_at"`
	CooldownUntil          string `json:"cooldown_until"`
	TotalErrorsDetected    int    `json:"total_errors_detected"`
	TotalFixesAttempted    int    `json:"total_fixes_attempted"`
	TotalFixesSucceeded    int    `json:"total_fixes_succeeded"`
	LastHealthStatus       string `json:"last_health_status"`
	ContinuousFailureCount int    `json:"continuous_failure_count"`
	CreatedAt              string `json:"created_at"`
	UpdatedAt              string `json:"updated_at"`
	// Loop is all that is ours, under one key.
	Loop    Loop             `json:"signalbox,omitzero"`
	Unknown workflow.Unknown `json:",embed"`
}

// NewHealth is state.json before the first pass (H1).
func New(now time.Time) State {
	at := now.UTC().Format(time.RFC3339)
	return State{LastHealthStatus: Unknown, CreatedAt: at, UpdatedAt: at}
}

// Words of last_health_status. It is free text in the format; any other word
// means that the project is not known to be healthy.
const (
	Unknown  = "unknown"  // nobody has looked yet, or the last look could see nothing
	Healthy  = "healthy"  // the last look found nothing
	Degraded = "degraded" // an error was found; a repair failed, or has yet to be verified
	Critical = "critical" // repairs failed three times in a row; only a person goes on
)

// The published rules of the self-healing loop (H3).
const (
	RepairCooldown   = 300 * time.Second
	CriticalFailures = 3
	// Interval is how long a healthy project is left alone unless told otherwise.
	Interval = time.Hour
)

// mostCounted is the largest number that every reader of JSON takes as it is written, and far from where counting on would end.
const mostCounted = 1<<53 - 1

// Fact is what the repair layer reports; it decides nothing (H2).
type Fact struct {
	Kind FactKind
	// ErrorID and Summary say which error was detected.
	ErrorID, Summary string
}

// FactKind is the name of a fact.
type FactKind string

const (
	FactHealthy       FactKind = "healthy"        // a look found nothing; ends a pass. While an error is open, the next look verifies it
	FactErrorDetected FactKind = "error-detected" // a look found an error
	FactFixAttempted  FactKind = "fix-attempted"  // a repair was begun
	FactFixSucceeded  FactKind = "fix-succeeded"  // a repair went well; ends a pass
	FactFixFailed     FactKind = "fix-failed"     // a repair went wrong; ends a pass
	FactRearmed       FactKind = "rearmed"        // a person acted on a critical state: repairs begin again
)

// FactKinds lists them in the order of a pass, and then what a person does.
var FactKinds = []FactKind{FactHealthy, FactErrorDetected, FactFixAttempted, FactFixSucceeded, FactFixFailed, FactRearmed}

// Loop is what the loop must remember and the published format has no key for.
type Loop struct {
	// Attempting: a repair was begun and its end is not recorded.
	Attempting bool `json:"attempting,omitzero"`
	// CriticalSince tells one critical time from the next; it is part of the key of the request
	// that is opened about it.
	CriticalSince string `json:"critical_since,omitzero"`
	// Request is that request's id; empty until it is open.
	Request string `json:"request,omitzero"`
	// Earlier are the requests about earlier critical times that nobody has closed.
	Earlier []string `json:"earlier_requests,omitempty"`
	// Unclosed are the requests about what is gone that the forge could not be told to close.
	Unclosed []string `json:"unclosed_requests,omitempty"`

	// NextRunAt is when a healthy project is looked at again. It is kept apart from the cooldown, so
	// that a schedule and a cooldown of the same length do not starve each other.
	NextRunAt string `json:"next_run_at,omitempty"`
	// HealthyPasses counts the passes in a row that found nothing, up to three.
	HealthyPasses int `json:"healthy_passes,omitzero"`
	// Errors are those that are not known to be gone, Pass the one in hand.
	Errors []Error `json:"errors,omitempty"`
	Pass   *Pass   `json:"pass,omitempty"`
	// Unverified are the failures in a row before a repair that is not verified yet: they count again if it does not hold.
	Unverified int `json:"unverified_failures,omitzero"`
	// Undone counts the repairs that counted as succeeded and did not hold. It only grows.
	Undone int `json:"undone,omitzero"`
	// Stopped is why the last pass ended before it came to a result, one line; empty if it did not. One that was killed says nothing.
	Stopped string `json:"stopped,omitempty"`
	// Unseen are the checks of which the last pass could see nothing.
	Unseen  []Unseen         `json:"unseen,omitempty"`
	Unknown workflow.Unknown `json:",embed"`
}

// calmed is what stays of the loop when somebody reports that all is well.
func (l Loop) calmed() Loop {
	calm := Loop{Earlier: l.Earlier, Unclosed: l.Unclosed, Errors: l.Errors, Pass: l.Pass, Undone: l.Undone, Unknown: l.Unknown}
	if l.Request != "" {
		calm.Earlier = append(slices.Clone(l.Earlier), l.Request)
	}
	return calm
}

// CriticalKey identifies the request about the present critical time; empty if there is none.
func (h *State) CriticalKey() string {
	if h.LastHealthStatus != Critical || h.Loop.CriticalSince == "" {
		return ""
	}
	return "health-critical-" + h.Loop.CriticalSince
}

const (
	maxErrorID = 200  // bytes
	maxSummary = 4000 // characters; a log belongs elsewhere
)

// Validate refuses what is no fact.
func (f Fact) Validate() error {
	if !slices.Contains(FactKinds, f.Kind) {
		return fmt.Errorf("there is no fact %q", f.Kind)
	}
	if f.Kind != FactErrorDetected {
		return nil
	}
	if f.ErrorID == "" || len(f.ErrorID) > maxErrorID || strings.ContainsFunc(f.ErrorID, unicode.IsControl) {
		return fmt.Errorf("error id %.200q must be one line of at most %d bytes", f.ErrorID, maxErrorID)
	}
	return nil
}

// Record takes a fact over (H3, H4). critical is true when this fact made the state critical.
func (h *State) Record(fact Fact, now time.Time) (critical bool, err error) {
	if err := fact.Validate(); err != nil {
		return false, err
	}
	now = now.UTC()
	switch fact.Kind {
	case FactHealthy:
		h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
		h.LastHealthStatus, h.Loop = Healthy, h.Loop.calmed()
		if h.anyOpen() { // it was said, and not seen
			h.LastHealthStatus = Degraded
		}
		h.RunCount++
	case FactErrorDetected:
		h.detected(fact)
	case FactFixAttempted:
		h.attempted(now)
	case FactFixSucceeded:
		h.ended(now)
		h.TotalFixesSucceeded++
		h.RetryRequired, h.CooldownUntil, h.ContinuousFailureCount = false, "", 0
		h.LastHealthStatus, h.Loop.CriticalSince, h.Loop.Request = Degraded, "", ""
	case FactFixFailed:
		h.ended(now)
		h.Loop.HealthyPasses = 0
		critical = h.failed(now)
	case FactRearmed:
		if h.LastHealthStatus == Critical { // else it was told twice, or too late
			h.Rearm(now)
		}
	}
	h.UpdatedAt = now.Format(time.RFC3339)
	return critical, nil
}

func (h *State) detected(fact Fact) {
	h.TotalErrorsDetected++
	h.Loop.HealthyPasses = 0
	h.LastErrorID, h.LastErrorSummary = fact.ErrorID, summarized(fact.Summary)
	if h.LastHealthStatus != Critical {
		h.LastHealthStatus = Degraded
	}
}

func (h *State) attempted(now time.Time) {
	h.TotalFixesAttempted++
	h.LastAttemptAt = now.Format(time.RFC3339)
	h.Loop.Attempting = true
}

// ended closes the attempt; of one whose beginning nobody reported it reports that too.
func (h *State) ended(now time.Time) {
	if !h.Loop.Attempting {
		h.attempted(now)
	}
	h.Loop.Attempting = false
	h.RunCount++
}

func (h *State) failed(now time.Time) (critical bool) {
	h.ContinuousFailureCount++
	if h.ContinuousFailureCount < CriticalFailures {
		h.RetryRequired, h.CooldownUntil = true, now.Add(RepairCooldown).Format(time.RFC3339)
		h.LastHealthStatus = Degraded
		return false
	}
	critical = h.LastHealthStatus != Critical
	if critical || h.Loop.CriticalSince == "" {
		h.Loop.CriticalSince, h.Loop.Request = now.Format(time.RFC3339Nano), ""
	}
	h.RetryRequired, h.CooldownUntil, h.LastHealthStatus = false, "", Critical
	return critical
}

// Check is what every state.json must keep to.
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
			return &workflow.InvalidError{Pointer: "/" + count.name, Reason: fmt.Sprintf("%s is %d, more than anybody can have counted", count.name, count.n)}
		}
	}
	return nil
}

// Validate is Check with what only a careful writer keeps to.
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
