// Package workflow owns the words of Signalbox: what a run is, where it is and why it stopped, the events that move it and the actions that they
// order. Its subpackage machine decides what comes next; policy judges a change; wording writes for people. The package refuses everything that
// could make an answer depend on more than its arguments: no clock, no context, no files, no log, no randomness.
package workflow

import (
	"encoding/json"
	"fmt"
	"path"
	"time"
)

// RunVersion is the version of stage.json that this package reads and writes.
const RunVersion = "1.0"

// Run is the document stage.json: everything that is known about one attempt to turn a request into a merged change. The keys of the published
// format stay exactly as specified; whatever Signalbox adds is under the one additional key "signalbox" (see Details).
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
	// UpdatedAt is the time of the last saved transition. It is never before StartedAt, even if the clock was set back.
	UpdatedAt time.Time `json:"updated_at"`
	// EndedAt is set exactly while State is one of NEEDS_INPUT, FAILED, DONE and CANCELED.
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

// State is the outermost answer to "where is it?".
type State string

const (
	// Queued: the run waits for a slot, for another run or for a time; Progress.Message says which. A runner moves it on. A crash leaves it queued.
	Queued State = "QUEUED"
	// Running: a runner performs the pending actions. A crash leaves it RUNNING with its lock free; the next start continues it.
	Running State = "RUNNING"
	// NeedsInput: a person must act before the run can move. The environment is kept. Only Resumed, Approved, Rejected, SyncOrdered or a cancelling
	// stop leaves it.
	NeedsInput State = "NEEDS_INPUT"
	// Failed: the budget for trying alone is used up. The environment is kept. Only Retried or a cancelling stop leaves it.
	Failed State = "FAILED"
	// Done: the change is merged and its environment removed. Final.
	Done State = "DONE"
	// Canceled: a person gave the run up. Its work is kept on a ref, its environment removed. Final; a new attempt is a new run.
	Canceled State = "CANCELED"
)

// States lists every State, in the order of a run's life.
var States = []State{Queued, Running, NeedsInput, Failed, Done, Canceled}

// Final reports whether nothing can leave s.
func (s State) Final() bool { return s == Done || s == Canceled }

// Ended reports whether a run in s has ended_at set: no runner works on it.
func (s State) Ended() bool { return s.Final() || s == NeedsInput || s == Failed }

// labels are the published names of the states, by language.
var labels = map[string]map[State]string{
	"en": {Queued: "Queued", Running: "Running", NeedsInput: "Needs input", Failed: "Failed", Done: "Done", Canceled: "Canceled"},
	"ja": {Queued: "実行待ち", Running: "実行中", NeedsInput: "要対応", Failed: "失敗", Done: "完了", Canceled: "中断"},
}

// Label returns the English label of the state.
func (s State) Label() string { return s.LabelIn("en") }

// LabelIn returns the state's label in a language, "en" or "ja"; in English for any other.
func (s State) LabelIn(language string) string {
	if label, ok := labels[language][s]; ok {
		return label
	}
	return labels["en"][s]
}

// Stage is the runner's own division of a run, coarser than its phases. It follows from the phase; see Positions.
type Stage string

const (
	// StageInit: the run is queued for the first time.
	StageInit Stage = "INIT"
	// StageLockAcquired: a runner holds the request's lock, and makes the branch and the environment.
	StageLockAcquired Stage = "LOCK_ACQUIRED"
	// StagePlanning: the project's documents are read, and the plan is made. The setup of the environment is part of it.
	StagePlanning Stage = "PLANNING"
	// StageImplementing: the implementer works on a step or a fix.
	StageImplementing Stage = "IMPLEMENTING"
	// StageApplying: what the implementer left becomes a commit.
	StageApplying Stage = "APPLYING"
	// StageTesting: the commit is tested or reviewed.
	StageTesting Stage = "TESTING"
	// StageReporting: the change is offered: approval, pull request, checks.
	StageReporting Stage = "REPORTING"
	// StageFinalizing: the change is merged and its environment removed, or a canceled run is removed.
	StageFinalizing Stage = "FINALIZING"
	// StageEnd: the run is DONE or CANCELED.
	StageEnd Stage = "END"
)

// Stages lists every Stage in order.
var Stages = []Stage{StageInit, StageLockAcquired, StagePlanning, StageImplementing, StageApplying,
	StageTesting, StageReporting, StageFinalizing, StageEnd}

// Progress is the line that a person reads first.
type Progress struct {
	// Percent is 0 to 100, by phases, not by time. Only a DONE run has 100.
	Percent int `json:"percent"`
	// Message says in one line what is going on, or why the run stopped.
	Message string `json:"message"`
	// ETASec is seconds, null while nothing is known.
	ETASec  *int    `json:"eta_sec"`
	Unknown Unknown `json:",embed"`
}

// Locks are the run's two locks as its runner last saw them. A crash leaves them shown as held; the lock files tell the truth.
type Locks struct {
	// Request is held while the run is under way: one runner per request.
	Request Lock `json:"request_lock"`
	// Queue is a slot among the runs that may work at once; it is held only while the run is RUNNING.
	Queue   Lock    `json:"queue_lock"`
	Unknown Unknown `json:",embed"`
}

// Lock is one lock as shown in stage.json. The truth is the kernel's lock on the file at Path.
type Lock struct {
	Path string `json:"path"`
	Held bool   `json:"held"`
	// AcquiredAt is when the present holder took the lock, or when the last one did.
	AcquiredAt *time.Time `json:"acquired_at"`
	// TTLSec is seconds; DefaultLockTTLSec unless configured.
	TTLSec  int     `json:"ttl_sec"`
	Unknown Unknown `json:",embed"`
}

// DefaultLockTTLSec is how long other hosts respect a lock whose host vanished, in seconds.
const DefaultLockTTLSec = 900

// Artifacts are the run's files, all relative to the project root with slashes.
type Artifacts struct {
	// RequestPath is the request's file; empty if the request is an issue on a forge.
	RequestPath string `json:"request_path"`
	// PlanningJSON is null until the plan is written.
	PlanningJSON *string `json:"planning_json"`
	ReportMD     string  `json:"report_md"`
	// ErrorsJSON is set exactly while Error is.
	ErrorsJSON *string `json:"errors_json"`
	// Patches are the diffs of the steps and fixes, one file each, in the order of their commits.
	Patches []string `json:"patches"`
	LogsDir string   `json:"logs_dir"`
	// CompareURL is the forge's page that compares the branch with its base.
	CompareURL *string `json:"compare_url"`
	Unknown    Unknown `json:",embed"`
}

// Counters only grow during a run; a resume or retry doesn't reset them (see Used for budgets).
type Counters struct {
	PlannerCalls     int `json:"planner_calls"`
	ImplementerCalls int `json:"implementer_calls"`
	// QACalls counts the calls of the reviewer.
	QACalls  int `json:"qa_calls"`
	UnitRuns int `json:"unit_runs"`
	E2ERuns  int `json:"e2e_runs"`
	// AutofixCycles counts how often a change went back to the implementer because of its tests or a refusal.
	AutofixCycles int `json:"autofix_cycles"`
	// Retries counts everything that was tried again: agents, tests, actions, and a person's retries.
	Retries int     `json:"retries"`
	Unknown Unknown `json:",embed"`
}

// Signals are written by a front end or a person and obeyed by the runner, which never overwrites them except to acknowledge.
type Signals struct {
	StopRequested   bool `json:"stop_requested"`
	ResumeRequested bool `json:"resume_requested"`
	// Notes are a person's own; no program reads them.
	Notes *string `json:"notes"`
	// Commands are the orders that the published signals have no word for, oldest first. The runner acknowledges one by removing it.
	Commands []Command `json:"signalbox_commands,omitempty"`
	// Orders are the ids of the orders on a forge that the run had, oldest first. Each is written together with what it ordered, so that no crash comes
	// between: one that is named was given. The runner leaves them.
	Orders  []string `json:"signalbox_heard,omitempty"`
	Unknown Unknown  `json:",embed"`
}

// CommandKind is an order from a person.
type CommandKind string

const (
	CommandCancel  CommandKind = "cancel"  // give the run up; its work is kept on a ref
	CommandApprove CommandKind = "approve" // merge the change at Commit
	CommandReject  CommandKind = "reject"  // send the change back with Text
	CommandSync    CommandKind = "sync"    // merge the base branch as it is now into the change
	CommandRetry   CommandKind = "retry"   // try a failed run again
	CommandWake    CommandKind = "wake"    // something happened on the forge: look there now
	CommandAnswer  CommandKind = "answer"  // answer an agent's question with Answer
	CommandForce   CommandKind = "force"   // with resume_requested: drop work that is too large to keep, or continue without usable tests
)

// Command is one order waiting in Signals. A crash leaves it there, so it is obeyed by the next runner.
type Command struct {
	// ID is unique within the run; the event of the order names it.
	ID   string      `json:"id"`
	Kind CommandKind `json:"kind"`
	// Commit is the full object id that an approval is bound to.
	Commit string `json:"commit,omitempty"`
	// Text is what a rejected change must do differently.
	Text   string  `json:"text,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	// By is the person's name, as their git configuration has it.
	By      string    `json:"by,omitempty"`
	At      time.Time `json:"at"`
	Unknown Unknown   `json:",embed"`
}

// Start is what a new run is made from.
type Start struct {
	RequestID, RunID string
	Number           int
	Title            string
	RequestPath      string // relative to the project root; empty if the request is no file
	Branch, Base     string
	Settings         Settings
	// Program is the program that a person named to implement the request; empty if they named none.
	Program string
}

// New returns a run before anything happened: QUEUED at INIT, with the phases that its settings leave out skipped.
func New(s Start, now time.Time) Run {
	dir := path.Join("runs", s.RequestID, s.RunID)
	run := Run{
		Version: RunVersion, RequestID: s.RequestID, RunID: s.RunID, State: Queued, Stage: StageInit,
		Title: s.Title, StartedAt: now, UpdatedAt: now, Progress: Progress{Message: "queued"},
		Locks: Locks{Request: Lock{TTLSec: DefaultLockTTLSec}, Queue: Lock{TTLSec: DefaultLockTTLSec}},
		Artifacts: Artifacts{RequestPath: s.RequestPath, ReportMD: path.Join(dir, "report.md"),
			LogsDir: path.Join(dir, "logs")},
		Details: Details{Number: s.Number, StepName: BranchCreate.Step(), Settings: s.Settings,
			Branch: s.Branch, Base: s.Base, Program: s.Program},
	}
	for _, row := range Positions {
		record := PhaseRecord{Phase: row.Phase, Step: row.Step, Status: StepPending}
		if why := s.Settings.LeavesOut(row); why != "" {
			record.Status, record.Note = StepSkipped, why
		}
		run.Details.Phases = append(run.Details.Phases, record)
	}
	return run
}

// Dir returns the run's folder relative to the project root.
func (r *Run) Dir() string { return path.Join("runs", r.RequestID, r.RunID) }

// Ref returns the name by which people know the run: its request's number.
func (r *Run) Ref() string { return fmt.Sprint(r.Details.Number) }

// EnvironmentID returns the id of the run's environment, even before it is made.
func (r *Run) EnvironmentID() string { return fmt.Sprintf("issue-%d-%s", r.Details.Number, r.RunID) }

// UnderWay reports whether a process should be running it.
func (r *Run) UnderWay() bool { return r.State == Queued || r.State == Running }

// Watches reports whether it waits for the forge.
func (r *Run) Watches() bool {
	p := r.Details.Pending
	if r.Details.ParkedUntil != nil {
		return r.State == Queued && len(p) > 0 && p[0].Kind == WatchChecks
	}
	return r.State == Running && len(p) > 1 && p[0].Kind == Wait && (p[1].Kind == WatchChecks || p[1].Kind == MergePullRequest)
}

// Awaits is what the run waits for on the forge, and who can end that; nil if it is for nothing there.
func (r *Run) Awaits() *Await {
	j := &r.Details
	if j.PullRequest == nil || !r.UnderWay() || j.MergeCommit != "" || j.Phase != CIWatch && j.Phase != MergeCleanup {
		return nil
	}
	return j.PullRequest.Awaits
}

// AsksForApproval reports whether a person may approve the change now, or send it back.
func (r *Run) AsksForApproval() bool {
	return r.State == NeedsInput && r.Details.Phase == ApprovalWait || r.UnderWay() && r.Details.Phase == CIWatch && r.Details.AwaitsForge()
}

// RunRef names a run. The store checks both names before it uses them in a path.
type RunRef struct{ RequestID, RunID string }

// RefOf returns the reference of a run that was read or is about to be created.
func RefOf(run *Run) RunRef { return RunRef{run.RequestID, run.RunID} }

func (r RunRef) String() string { return r.RequestID + "/" + r.RunID }

// Unknown holds the keys of a document that this version has no word for. The documents are a public interface: what another program put there
// survives every update by Signalbox.
type Unknown map[string]json.RawMessage
