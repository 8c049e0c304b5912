package workflow

import (
	"fmt"
	"path"
	"time"
)

// Start is what a new run is made from.
type Start struct {
	RequestID, RunID string
	Number           int
	Title            string
	RequestPath      string // relative to the project root; empty when it is no file
	Branch, Base     string
	Settings         Settings
	// Program is what a person named to implement the request; empty if they named none.
	Program string
}

// New is a run before anything happened: QUEUED at INIT.
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

// Dir is the run's folder relative to the project root.
func (r *Run) Dir() string { return path.Join("runs", r.RequestID, r.RunID) }

// Ref is how people name the run: its request's number.
func (r *Run) Ref() string { return fmt.Sprint(r.Details.Number) }

// RunRef names a run. Both parts are names that the store checks before it does anything with them.
type RunRef struct{ RequestID, RunID string }

// RefOf returns the reference of a run that was read or is about to be created.
func RefOf(run *Run) RunRef { return RunRef{run.RequestID, run.RunID} }

func (r RunRef) String() string { return r.RequestID + "/" + r.RunID }
