package registry

import (
	"time"

	"signalbox/internal/workflow"
)

// PhaseProgress is one of the seven phases into which the comment on an issue divides a run. The command
// line shows the same ones, for people and as JSON.
type PhaseProgress struct {
	// Phase is the fixed name, such as environment_setup.
	Phase workflow.ProgressPhase `json:"phase"`
	// Title is the name for people, such as Environment Setup.
	Title string `json:"title"`
	// Status is one of PhasePending, PhaseActive, PhaseCompleted, PhaseSkipped and PhaseFailed.
	Status string `json:"status"`
	// Detail is one line: what the run does in the active phase, or why the failed one failed.
	Detail string `json:"detail,omitempty"`
}

// The statuses of a PhaseProgress.
const (
	// PhasePending: the run isn't there yet.
	PhasePending = "pending"
	// PhaseActive: the run is there now, at work, waiting or stopped. Exactly one phase is, until the run is done.
	PhaseActive = "active"
	// PhaseCompleted: the run has passed it.
	PhaseCompleted = "completed"
	// PhaseSkipped: the run has passed it without anything to do there.
	PhaseSkipped = "skipped"
	// PhaseFailed: the setup failed. The run continues without it, with a warning.
	PhaseFailed = "failed"
)

// phaseTitles are the names of the phases for people.
var phaseTitles = map[workflow.ProgressPhase]string{
	workflow.ProgressPrePlanning: "Pre Planning", workflow.ProgressPlanning: "Planning", workflow.ProgressEnvironmentSetup: "Environment Setup",
	workflow.ProgressExecution: "Execution", workflow.ProgressReflection: "Reflection", workflow.ProgressVerification: "Verification", workflow.ProgressComplete: "Complete",
}

// PhasesOf returns the seven phases of the run, in their order. Those before the run's position are completed,
// skipped or failed, those after it pending. A run that a review sends back has fewer completed ones than
// before.
func PhasesOf(r *workflow.Run) []PhaseProgress {
	now, all := r.ProgressPhase(), make([]PhaseProgress, 0, len(workflow.ProgressPhases))
	behind := true
	for _, phase := range workflow.ProgressPhases {
		p := PhaseProgress{Phase: phase, Title: phaseTitles[phase], Status: PhasePending}
		switch {
		case phase == now && r.State == workflow.Done:
			p.Status = PhaseCompleted
		case phase == now:
			p.Status, p.Detail, behind = PhaseActive, r.Progress.Message, false
		case behind && leftOut(r, phase):
			p.Status = PhaseSkipped
		case behind && phase == workflow.ProgressEnvironmentSetup && r.Details.SetUp.Failure() != "":
			p.Status, p.Detail = PhaseFailed, r.Details.SetUp.Failure()
		case behind:
			p.Status = PhaseCompleted
		}
		all = append(all, p)
	}
	return all
}

// leftOut reports whether the run had nothing to do in a phase: each of its own phases that belongs there was
// skipped, or, for the setup, there was nothing to set up.
func leftOut(r *workflow.Run, phase workflow.ProgressPhase) bool {
	if phase == workflow.ProgressEnvironmentSetup {
		return r.Details.SetUp == nil
	}
	for _, record := range r.Details.Phases {
		if record.Phase.Position().Progress == phase && record.Status != workflow.StepSkipped {
			return false
		}
	}
	return phase != workflow.ProgressComplete
}

// SetUpProgress says how far the setup of a run's environment is, for front ends that show it. The setup runs
// its commands one by one, then its verifications.
type SetUpProgress struct {
	// Command of Commands is running, from 1. It stays the last one while the verifications run.
	Command  int `json:"command"`
	Commands int `json:"commands"`
	// Verification of Verifications is running, from 1; 0 while the commands run.
	Verification  int `json:"verification"`
	Verifications int `json:"verifications"`
	// Running is the command line that is running, or that waits to be tried again; empty after the last one.
	Running string `json:"running"`
	// Warm is true if the setup began from a cached environment.
	Warm bool `json:"warm"`
	// RetryAt is when a command that failed is tried again; nil if none waits for that.
	RetryAt *time.Time `json:"retry_at"`
	// Repair is the number of the last correction that a model was asked for; 0 before the first. Repairs is how
	// many the run may ask for.
	Repair  int `json:"repair"`
	Repairs int `json:"repairs"`
}

// SetUpOf returns how far the run's setup is, and nil before and after it. It depends on the run alone, so any
// process that reads stage.json can show it.
func SetUpOf(r *workflow.Run) *SetUpProgress {
	j := &r.Details
	if !j.SettingUp || j.SetUp == nil {
		return nil
	}
	s, commands := j.SetUp, len(j.SetUp.Commands)
	p := &SetUpProgress{Command: min(s.Next+1, commands), Commands: commands, Verifications: len(s.Verification), Warm: s.Warm,
		Repair: j.Used.SetUpRepairs, Repairs: j.Settings.Limits.SetUpRepairs}
	switch {
	case s.Next < commands:
		p.Running = s.Commands[s.Next]
	case s.Next < commands+len(s.Verification):
		p.Verification, p.Running = s.Next-commands+1, s.Verification[s.Next-commands].Command
	}
	if len(j.Pending) > 0 && j.Pending[0].Kind == workflow.Wait {
		p.RetryAt = j.Pending[0].Until
	}
	return p
}
