package registry

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// PhaseProgress is one of the seven phases of P9, as every front end shows it.
type PhaseProgress struct {
	Phase workflow.ProgressPhase `json:"phase"`
	Title string                 `json:"title"`
	// Status is pending, active, completed, failed or skipped.
	Status string `json:"status"`
	// Detail says what is going on in the active one, one line.
	Detail string `json:"detail,omitempty"`
}

// The statuses of a PhaseProgress.
const (
	PhasePending   = "pending"
	PhaseActive    = "active"
	PhaseCompleted = "completed"
	PhaseSkipped   = "skipped"
	PhaseFailed    = "failed" // with a warning: the run went on without it
)

var phaseTitles = map[workflow.ProgressPhase]string{
	workflow.ProgressPrePlanning: "Pre Planning", workflow.ProgressPlanning: "Planning", workflow.ProgressEnvironmentSetup: "Environment Setup",
	workflow.ProgressExecution: "Execution", workflow.ProgressReflection: "Reflection", workflow.ProgressVerification: "Verification", workflow.ProgressComplete: "Complete",
}

// PhasesOf returns the run as the seven phases, in their order.
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

// leftOut: every phase of the run that belongs there was skipped.
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

// SetUpProgress is how far a set-up is, for those who draw it.
type SetUpProgress struct {
	// Command of Commands is run now, or, when all of them are done, Verification of Verifications; from 1.
	Command       int    `json:"command"`
	Commands      int    `json:"commands"`
	Verification  int    `json:"verification"`
	Verifications int    `json:"verifications"`
	Running       string `json:"running"`
	Warm          bool   `json:"warm"`
	// RetryAt is when a command that failed is tried again; nil when none waits for that.
	RetryAt *time.Time `json:"retry_at"`
	// Repair of Repairs is the correction by the model that was asked for last; 0 is none.
	Repair  int `json:"repair"`
	Repairs int `json:"repairs"`
}

// SetUpOf returns nil unless the run is setting its environment up.
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

// CommentOf returns the one comment on the request that is edited in place. It changes with
// the phases and with the state, not with every command. say renders a next step.
func CommentOf(r *workflow.Run, say func(workflow.NextStep) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Signalbox: %s\n\n", r.State.Label())
	marks := map[string]string{PhasePending: "[ ]", PhaseActive: "[ ] ▶", PhaseCompleted: "[x]", PhaseSkipped: "[x] –", PhaseFailed: "[ ] ⚠"}
	for _, p := range PhasesOf(r) {
		title := p.Title
		switch p.Status {
		case PhaseActive:
			title = "**" + title + "**"
		case PhaseSkipped:
			title += " (nothing to do)"
		case PhaseFailed:
			title += " (failed with a warning)"
		}
		fmt.Fprintf(&b, "- %s %s\n", marks[p.Status], title)
	}
	fmt.Fprintf(&b, "\nRun %s, branch `%s`", r.RunID, r.Details.Branch)
	if r.Error != nil {
		steps := make([]string, len(r.Error.Next))
		for i, step := range r.Error.Next {
			steps[i] = say(step)
		}
		fmt.Fprintf(&b, "\n\n**%s**: %s", wording.Printable(r.Error.Title), strings.Join(steps, "; "))
	}
	return b.String() + "\n"
}
