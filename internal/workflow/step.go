package workflow

import (
	"fmt"
	"slices"
	"time"
)

// Role is a kind of work that an agent does for a run. The configuration names an agent for each.
type Role string

const (
	Planner     Role = "planner"     // answers planning.json
	Implementer Role = "implementer" // changes files in the environment
	Reviewer    Role = "reviewer"    // answers findings
	Repairer    Role = "repairer"    // answers corrected setup commands
)

// Roles lists every Role.
var Roles = []Role{Planner, Implementer, Reviewer, Repairer}

// Roles returns the roles that the run may still call an agent for. Before the first paid call, their agents must start.
func (r *Run) Roles() []Role {
	j := &r.Details
	return slices.DeleteFunc(slices.Clone(Roles), func(role Role) bool {
		switch role {
		case Planner:
			return len(r.Steps) > 0 || j.Settings.LeavesOut(DesignCheck.Position()) != ""
		case Reviewer:
			return j.Settings.LeavesOut(ReviewRequest.Position()) != ""
		case Repairer:
			return j.Settings.NoRepairer
		}
		return false
	})
}

// Step is one entry of steps[], at the same place as in planning.json.
type Step struct {
	// StepID is S01, S02, …
	StepID    string     `json:"step_id"`
	Title     string     `json:"title"`
	Role      Role       `json:"role"`
	Status    StepStatus `json:"status"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	// Attempt counts from 1; it is 1 before the first start too. Each call of the implementer for the step is one attempt.
	Attempt int `json:"attempt"`
	// Summary is the implementer's own, one line.
	Summary string   `json:"summary"`
	Logs    []string `json:"logs"`
	// PatchPath is the step's change as a diff; null until it is recorded.
	PatchPath *string  `json:"patch_path"`
	DiffStat  DiffStat `json:"diff_stat"`
	Test      StepTest `json:"test"`
	// Error is the stop that happened in this step; null otherwise.
	Error *Error `json:"error"`
	// Phase is where the step is carried out: tdd-red, tdd-green or tdd-refactor.
	Phase   StepName `json:"signalbox_phase"`
	Unknown Unknown  `json:",embed"`
}

// StepStatus is the state of a step, or of a phase.
type StepStatus string

const (
	// StepPending: not begun, or to be repeated because the run went back.
	StepPending StepStatus = "PENDING"
	// StepRunning: in hand. A crash leaves it so, and the next start repeats its pending action.
	StepRunning StepStatus = "RUNNING"
	// StepDone: recorded and, where tests must pass, tested.
	StepDone StepStatus = "DONE"
	// StepFailed: every attempt is used up. A retry sets it back to RUNNING.
	StepFailed StepStatus = "FAILED"
	// StepSkipped: the workflow leaves it out, it had nothing to do, or the run was given up.
	StepSkipped StepStatus = "SKIPPED"
	// StepNeedsInput: a person must act. Resuming sets it back to RUNNING.
	StepNeedsInput StepStatus = "NEEDS_INPUT"
)

// DiffStat is the size of a step's change.
type DiffStat struct {
	FilesChanged int `json:"files_changed"`
	LinesAdded   int `json:"lines_added"`
	LinesDeleted int `json:"lines_deleted"`
	// TooLarge: added plus deleted lines exceed Limits.MaxDiffLines.
	TooLarge bool    `json:"too_large"`
	Unknown  Unknown `json:",embed"`
}

// StepTest holds the test results of one step's change.
type StepTest struct {
	Unit    TestResult `json:"unit"`
	E2E     TestResult `json:"e2e"`
	Unknown Unknown    `json:",embed"`
}

// Words returns the statuses for people: that of the unit tests and, if there are any, that of the end-to-end tests.
func (t *StepTest) Words() string {
	if t.E2E.Status == TestSkipped || t.E2E.Status == "" {
		return string(t.Unit.Status)
	}
	return fmt.Sprintf("%s, end to end %s", t.Unit.Status, t.E2E.Status)
}

// TestStatus is the state of the tests of one step's change.
type TestStatus string

const (
	TestNotRun  TestStatus = "NOT_RUN" // they will run once the change is recorded
	TestRunning TestStatus = "RUNNING" // a crash leaves it so, and the next start runs them again
	TestPass    TestStatus = "PASS"
	TestFail    TestStatus = "FAIL"    // the change goes back, or the step's phase expects it
	TestSkipped TestStatus = "SKIPPED" // there are none, or the change need not pass them yet
)

// TestResult is the outcome of the test commands of one kind.
type TestResult struct {
	Status  TestStatus `json:"status"`
	Command *string    `json:"command"`
	LogPath *string    `json:"log_path"`
	// DurationMS is milliseconds.
	DurationMS *int64 `json:"duration_ms"`
	// FailedSummary is how they failed, a few lines; null unless they did.
	FailedSummary *string `json:"failed_summary"`
	Unknown       Unknown `json:",embed"`
}

// Category is the area of an Error's cause. The value INTERNAL of older files is read as EXECUTION.
type Category string

const (
	CategoryEnvironment Category = "ENVIRONMENT" // this machine, the environment or an agent's installation
	CategoryInput       Category = "INPUT"       // a person: a decision, a request or an order
	CategoryContract    Category = "CONTRACT"    // an agent's answer broke its schema
	CategoryExecution   Category = "EXECUTION"   // an agent's call, or the run itself
	CategoryTest        Category = "TEST"        // the project's tests or the checks of the merge candidate
	CategoryGit         Category = "GIT"         // git, the branch or the merge
)

// Severity says how much an Error stands in the way.
type Severity string

const (
	Blocker Severity = "Blocker" // the request cannot go on without a person
	Major   Severity = "Major"   // something failed
	Minor   Severity = "Minor"   // nothing failed: a person is asked, or stopped the run
)

// Error says why a run stopped, and what a person can do. Next is never empty.
type Error struct {
	Category Category `json:"category"`
	// ReasonCode is for programs: see the reason codes.
	ReasonCode string `json:"reason_code"`
	// Title is one line for people; Message has the details.
	Title    string   `json:"title"`
	Message  string   `json:"message"`
	Severity Severity `json:"severity"`
	// Retryable: the same action may succeed next time without a change.
	Retryable bool `json:"retryable"`
	// Actions are the next steps as lines for people, made when a document is written. No decision reads them.
	Actions []string `json:"actions"`
	// Next is what a person can do, as data.
	Next []NextStep `json:"next_steps,omitempty"`
	// RelatedPaths are files to look at, relative to the project root.
	RelatedPaths []string       `json:"related_paths,omitempty"`
	Meta         map[string]any `json:"meta,omitempty"`
	Unknown      Unknown        `json:",embed"`
}

// Error makes the document's object usable as a Go error: one line, reason first.
func (e *Error) Error() string { return e.ReasonCode + ": " + e.Title }

// Untried returns what a step shows while no tests ran on its change.
func (s *Settings) Untried() StepTest {
	t := StepTest{Unit: TestResult{Status: TestSkipped}, E2E: TestResult{Status: TestSkipped}}
	if s.HasUnitTests() {
		t.Unit.Status = TestNotRun
	}
	if len(s.TestsE2E) > 0 {
		t.E2E.Status = TestNotRun
	}
	return t
}

// Result returns the event as a step shows it.
func (e TestsEnded) Result() TestResult {
	r := TestResult{Status: TestPass, Command: &e.Command, DurationMS: &e.DurationMS}
	if e.LogPath != "" {
		r.LogPath = &e.LogPath
	}
	if !e.Passed {
		r.Status, r.FailedSummary = TestFail, &e.Summary
	}
	return r
}
