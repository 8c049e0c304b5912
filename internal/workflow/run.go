// Package workflow owns the words of Signalbox and its whole judgement: what a
// run is, where it stands, and what comes next. It refuses everything that
// could make an answer depend on more than its arguments: no clock, no
// context, no files, no log, no randomness.
package workflow

import (
	"encoding/json"
	"fmt"
	"time"
)

// RunVersion is the version of stage.json that this package reads and writes.
const RunVersion = "1.0"

// Run is the document stage.json (SPEC R1–R18): everything that is known about
// one attempt to carry a request to a merged change. The keys of the published
// format stay exactly as specified; what it lacks is under the one additional
// key "signalbox" (see Details).
type Run struct {
	Version   string `json:"version"`
	RequestID string `json:"request_id"`
	// RunID is YYYYMMDD-HHMMSS-xxxxxx in UTC, the last part random; ids are never reused.
	RunID string `json:"run_id"`
	State State  `json:"state"`
	Stage Stage  `json:"stage"`
	// Title is the request's, one line.
	Title     string    `json:"title"`
	StartedAt time.Time `json:"started_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// EndedAt is set exactly while State is one of NEEDS_INPUT, FAILED, DONE and CANCELED (R15).
	EndedAt  *time.Time `json:"ended_at"`
	Progress Progress   `json:"progress"`
	// Steps follow planning.json from the end of PLANNING on: same ids, same order; empty before.
	Steps []Step `json:"steps"`
	// CurrentStepIndex is 0-based; 0 while there are no steps.
	CurrentStepIndex int       `json:"current_step_index"`
	Locks            Locks     `json:"locks"`
	Artifacts        Artifacts `json:"artifacts"`
	// Error is set exactly while State is NEEDS_INPUT or FAILED.
	Error    *Error   `json:"error"`
	Counters Counters `json:"counters"`
	Signals  Signals  `json:"signals"`
	Details  Details  `json:"signalbox"`
	Unknown  Unknown  `json:",embed"`
}

// State is the outermost answer to "where is it?" (R1).
type State string

const (
	// Queued: waits for a slot or for another run; Progress.Message says for which. A runner
	// moves it on; a crash leaves it queued.
	Queued State = "QUEUED"
	// Running: a runner performs the pending actions. A crash leaves it RUNNING with nobody
	// holding its lock; the next start continues it.
	Running State = "RUNNING"
	// NeedsInput: a person must act before the run can move. The environment is kept. Only
	// Resumed, Approved, Rejected or a cancelling stop leaves it.
	NeedsInput State = "NEEDS_INPUT"
	// Failed: the budget for trying alone is used up. Only Retried or a cancelling stop leaves it.
	Failed State = "FAILED"
	// Done: the change is merged. Final.
	Done State = "DONE"
	// Canceled: given up by a person, its work kept on a ref. Final; a new attempt is a new run.
	Canceled State = "CANCELED"
)

// States lists every State in the order of R1.
var States = []State{Queued, Running, NeedsInput, Failed, Done, Canceled}

// Final reports whether nothing can leave s (R16).
func (s State) Final() bool { return s == Done || s == Canceled }

// Ended reports whether a run in s has ended_at set (R15): no runner works on it.
func (s State) Ended() bool { return s.Final() || s == NeedsInput || s == Failed }

// labels are those of R1, by language.
var labels = map[string]map[State]string{
	"en": {Queued: "Queued", Running: "Running", NeedsInput: "Needs input", Failed: "Failed", Done: "Done", Canceled: "Canceled"},
	"ja": {Queued: "実行待ち", Running: "実行中", NeedsInput: "要対応", Failed: "失敗", Done: "完了", Canceled: "中断"},
}

// Label is the English label of R1.
func (s State) Label() string { return s.LabelIn("en") }

// LabelIn is the label of R1 in a language ("en" or "ja"), the English one where there is none.
func (s State) LabelIn(language string) string {
	if label, ok := labels[language][s]; ok {
		return label
	}
	return labels["en"][s]
}

// Stage is the runner's own grain of a run's position (R2); read off the position table.
type Stage string

const (
	StageInit         Stage = "INIT"
	StageLockAcquired Stage = "LOCK_ACQUIRED"
	StagePlanning     Stage = "PLANNING"
	StageImplementing Stage = "IMPLEMENTING"
	StageApplying     Stage = "APPLYING"
	StageTesting      Stage = "TESTING"
	StageReporting    Stage = "REPORTING"
	StageFinalizing   Stage = "FINALIZING"
	StageEnd          Stage = "END"
)

// Stages lists every Stage in order.
var Stages = []Stage{StageInit, StageLockAcquired, StagePlanning, StageImplementing, StageApplying,
	StageTesting, StageReporting, StageFinalizing, StageEnd}

// Progress is the line that a person reads first (R4).
type Progress struct {
	// Percent is 0 to 100, by phases, not by time.
	Percent int    `json:"percent"`
	Message string `json:"message"`
	// ETASec is seconds, null while nothing is known.
	ETASec  *int    `json:"eta_sec"`
	Unknown Unknown `json:",embed"`
}

// Locks are the run's two locks as last seen by its runner (R5, R19).
type Locks struct {
	Request Lock    `json:"request_lock"`
	Queue   Lock    `json:"queue_lock"`
	Unknown Unknown `json:",embed"`
}

// Lock is one lock as shown in stage.json. The truth is the kernel's lock on the file at Path.
type Lock struct {
	Path       string     `json:"path"`
	Held       bool       `json:"held"`
	AcquiredAt *time.Time `json:"acquired_at"`
	// TTLSec is seconds; DefaultLockTTLSec unless configured.
	TTLSec  int     `json:"ttl_sec"`
	Unknown Unknown `json:",embed"`
}

// DefaultLockTTLSec is how long a lock of a vanished host is honoured, in seconds (R5).
const DefaultLockTTLSec = 900

// Artifacts are the run's files, all relative to the project root with slashes (R6).
type Artifacts struct {
	RequestPath  string   `json:"request_path"`
	PlanningJSON *string  `json:"planning_json"`
	ReportMD     string   `json:"report_md"`
	ErrorsJSON   *string  `json:"errors_json"`
	Patches      []string `json:"patches"`
	LogsDir      string   `json:"logs_dir"`
	CompareURL   *string  `json:"compare_url"`
	Unknown      Unknown  `json:",embed"`
}

// Counters only grow during a run (R7).
type Counters struct {
	PlannerCalls     int     `json:"planner_calls"`
	ImplementerCalls int     `json:"implementer_calls"`
	QACalls          int     `json:"qa_calls"`
	UnitRuns         int     `json:"unit_runs"`
	E2ERuns          int     `json:"e2e_runs"`
	AutofixCycles    int     `json:"autofix_cycles"`
	Retries          int     `json:"retries"`
	Unknown          Unknown `json:",embed"`
}

// Signals are written by a UI or a person and obeyed by the runner, which never
// overwrites them except to acknowledge (R8).
type Signals struct {
	StopRequested   bool    `json:"stop_requested"`
	ResumeRequested bool    `json:"resume_requested"`
	Notes           *string `json:"notes"`
	// Commands are the orders that the published signals have no word for, oldest first. The
	// runner acknowledges one by taking it out of the list.
	Commands []Command `json:"signalbox_commands,omitempty"`
	Unknown  Unknown   `json:",embed"`
}

// CommandKind is an order from a person.
type CommandKind string

const (
	CommandCancel  CommandKind = "cancel"  // give the run up; its work is kept on a ref
	CommandApprove CommandKind = "approve" // merge the change at Commit
	CommandReject  CommandKind = "reject"  // send the change back with Text
	CommandSync    CommandKind = "sync"    // merge the base branch of now into the change
	CommandRetry   CommandKind = "retry"   // try a failed run again
	CommandAnswer  CommandKind = "answer"  // answer an agent's question with Answer
	CommandForce   CommandKind = "force"   // with resume_requested: lose the work that is too large to keep
)

// Command is one order waiting in Signals.
type Command struct {
	ID   string      `json:"id"`
	Kind CommandKind `json:"kind"`
	// Commit is the full object id that an approval is bound to.
	Commit  string    `json:"commit,omitempty"`
	Text    string    `json:"text,omitempty"`
	Answer  *Answer   `json:"answer,omitempty"`
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// EnvironmentID is the id of the run's environment, also before it is made.
func (r *Run) EnvironmentID() string { return fmt.Sprintf("issue-%d-%s", r.Details.Number, r.RunID) }

// UnderWay reports whether some process should be carrying the run.
func (r *Run) UnderWay() bool { return r.State == Queued || r.State == Running }

// Unknown holds the keys of a document that this version has no word for. The
// documents are a public interface: what another program put there survives
// every update of ours (SPEC 0).
type Unknown map[string]json.RawMessage
