package workflow

import (
	"fmt"
	"slices"
	"time"
)

// Role is who does a piece of work.
type Role string

const (
	Planner     Role = "planner"     // answers planning.json
	Implementer Role = "implementer" // changes files in the environment
	Reviewer    Role = "reviewer"    // answers findings
	Repairer    Role = "repairer"    // answers corrected set-up commands
)

// Roles lists every Role.
var Roles = []Role{Planner, Implementer, Reviewer, Repairer}

// Roles are those that the run may still call an agent for, whatever comes.
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

// Step is one entry of steps[] (R9), at the same place as in planning.json.
type Step struct {
	// StepID is S01, S02, …
	StepID    string     `json:"step_id"`
	Title     string     `json:"title"`
	Role      Role       `json:"role"`
	Status    StepStatus `json:"status"`
	StartedAt *time.Time `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	// Attempt counts from 1; 1 also before the first start.
	Attempt int `json:"attempt"`
	// Summary is one line.
	Summary   string   `json:"summary"`
	Logs      []string `json:"logs"`
	PatchPath *string  `json:"patch_path"`
	DiffStat  DiffStat `json:"diff_stat"`
	Test      StepTest `json:"test"`
	Error     *Error   `json:"error"`
	// Phase is where the step is carried out: tdd-red, tdd-green or tdd-refactor.
	Phase   StepName `json:"signalbox_phase"`
	Unknown Unknown  `json:",embed"`
}

// StepStatus is a step's own state (R9).
type StepStatus string

const (
	StepPending    StepStatus = "PENDING"
	StepRunning    StepStatus = "RUNNING"
	StepDone       StepStatus = "DONE"
	StepFailed     StepStatus = "FAILED"
	StepSkipped    StepStatus = "SKIPPED"
	StepNeedsInput StepStatus = "NEEDS_INPUT"
)

// DiffStat is the size of a step's change (R10).
type DiffStat struct {
	FilesChanged int `json:"files_changed"`
	LinesAdded   int `json:"lines_added"`
	LinesDeleted int `json:"lines_deleted"`
	// TooLarge: added plus deleted lines exceed Limits.MaxDiffLines.
	TooLarge bool    `json:"too_large"`
	Unknown  Unknown `json:",embed"`
}

// StepTest holds the results bound to one step (R11).
type StepTest struct {
	Unit    TestResult `json:"unit"`
	E2E     TestResult `json:"e2e"`
	Unknown Unknown    `json:",embed"`
}

// Words are the statuses for people: the unit tests', and the end-to-end tests' where there are any.
func (t *StepTest) Words() string {
	if t.E2E.Status == TestSkipped || t.E2E.Status == "" {
		return string(t.Unit.Status)
	}
	return fmt.Sprintf("%s, end to end %s", t.Unit.Status, t.E2E.Status)
}

// TestStatus is one of R11's five.
type TestStatus string

const (
	TestNotRun  TestStatus = "NOT_RUN"
	TestRunning TestStatus = "RUNNING"
	TestPass    TestStatus = "PASS"
	TestFail    TestStatus = "FAIL"
	TestSkipped TestStatus = "SKIPPED"
)

// TestResult is one test command's outcome (R11).
type TestResult struct {
	Status  TestStatus `json:"status"`
	Command *string    `json:"command"`
	LogPath *string    `json:"log_path"`
	// DurationMS is milliseconds.
	DurationMS    *int64  `json:"duration_ms"`
	FailedSummary *string `json:"failed_summary"`
	Unknown       Unknown `json:",embed"`
}

// Category is the kind of an Error (R12). INTERNAL of older files is read as EXECUTION.
type Category string

const (
	CategoryEnvironment Category = "ENVIRONMENT"
	CategoryInput       Category = "INPUT"
	CategoryContract    Category = "CONTRACT"
	CategoryExecution   Category = "EXECUTION"
	CategoryTest        Category = "TEST"
	CategoryGit         Category = "GIT"
)

// Severity of an Error (R12).
type Severity string

const (
	Blocker Severity = "Blocker"
	Major   Severity = "Major"
	Minor   Severity = "Minor"
)

// Error is the ErrorObject of R12: a stop that is an answer. Next is never empty.
type Error struct {
	Category   Category `json:"category"`
	ReasonCode string   `json:"reason_code"`
	Title      string   `json:"title"`
	Message    string   `json:"message"`
	Severity   Severity `json:"severity"`
	Retryable  bool     `json:"retryable"`
	// Actions are the next steps as lines for people, made where a document is written. No decision reads them.
	Actions []string `json:"actions"`
	// Next is what a person can do, as data.
	Next         []NextStep     `json:"next_steps,omitempty"`
	RelatedPaths []string       `json:"related_paths,omitempty"`
	Meta         map[string]any `json:"meta,omitempty"`
	Unknown      Unknown        `json:",embed"`
}

// Error makes the document's object usable as a Go error: one line, reason first.
func (e *Error) Error() string { return e.ReasonCode + ": " + e.Title }

// Untried is what a step shows of tests that did not run on its change yet.
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

// Result is the event in the words of R11.
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
