package announce

import (
	"encoding/json"
	"slices"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/language"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// facts are the part of the progress comment that programs read. Nothing in them is anyone's text.
type facts struct {
	Version  int                `json:"version"`
	Run      string             `json:"run"`
	State    workflow.State     `json:"state"`
	Phase    workflow.Phase     `json:"phase"`
	Step     workflow.StepName  `json:"step"`
	Commit   string             `json:"commit"`
	Reason   string             `json:"reason_code"`
	Question string             `json:"question"`
	Awaits   workflow.AwaitKind `json:"awaits"`
	Updated  time.Time          `json:"updated_at"`
	// Phases and Progress are the fifteen and the seven, each with its status.
	Phases   map[workflow.StepName]workflow.StepStatus `json:"phases"`
	Progress map[workflow.ProgressPhase]string         `json:"progress"`
}

// data is facts as JSON.
func data(r *workflow.Run) string {
	j := &r.Details
	f := facts{Version: 1, Run: r.RunID, State: r.State, Phase: j.Phase, Step: j.Phase.Step(), Commit: j.Head, Updated: r.UpdatedAt.UTC(),
		Phases: map[workflow.StepName]workflow.StepStatus{}, Progress: map[workflow.ProgressPhase]string{}}
	if r.Error != nil {
		f.Reason = r.Error.ReasonCode
	}
	if j.Question != nil {
		f.Question = j.Question.ID
	}
	if a := r.Awaits(); a != nil {
		f.Awaits = a.Kind
	}
	for _, record := range j.Phases {
		f.Phases[record.Step] = record.Status
	}
	for _, p := range registry.PhasesOf(r) {
		f.Progress[p.Phase] = p.Status
	}
	text, err := json.Marshal(f)
	if err != nil {
		return "{}"
	}
	return string(text)
}

// labelOf is the run's state as a label. A run that was given up has none.
func labelOf(r *workflow.Run) forge.StateLabel {
	switch {
	case r.State == workflow.Done:
		return forge.LabelDone
	case r.State == workflow.Failed:
		return forge.LabelFailed
	case r.State == workflow.NeedsInput, r.Details.Question != nil, r.Awaits().People():
		return forge.LabelNeedsInput
	case r.State == workflow.Canceled:
		return ""
	}
	return forge.LabelRunning
}

// groups are the phases that each of our verdicts sums up.
var groups = []struct {
	name   string
	phases []workflow.Phase
}{
	{forge.VerdictTests, []workflow.Phase{workflow.TDDRed, workflow.TDDGreen, workflow.TDDRefactor, workflow.StressTest, workflow.CIWatch}},
	{forge.VerdictReview, []workflow.Phase{workflow.ReviewRequest, workflow.ReviewFix}},
	{forge.VerdictApproval, []workflow.Phase{workflow.ApprovalWait}},
}

// verdicts are what we say ourselves about the run's commit.
func (a *Run) verdicts(r *workflow.Run) (all []forge.Verdict) {
	for _, group := range groups {
		v := forge.Verdict{Name: group.name, State: forge.Passed, Summary: a.Language.Say(language.StatusLeftOut)}
		for _, record := range r.Details.Phases {
			if !slices.Contains(group.phases, record.Phase) || v.State == forge.Failed {
				continue
			}
			switch record.Status {
			case workflow.StepSkipped:
			case workflow.StepDone:
				if v.State == forge.Passed {
					v.Summary = a.Language.Say(language.StatusPassed)
				}
			case workflow.StepFailed:
				v.State, v.Summary = forge.Failed, a.Language.Say(language.StatusFailed)
			case workflow.StepNeedsInput:
				v.State, v.Summary = forge.Pending, a.Language.Say(language.StatusWaits)
			default:
				v.State, v.Summary = forge.Pending, a.Language.Doing(record.Phase)
			}
		}
		if group.name == forge.VerdictApproval && r.Details.Settings.ApproveOnForge && !r.Details.Approved() {
			v.State, v.Summary = forge.Pending, a.Language.Say(language.StatusWaits)
		}
		all = append(all, v)
	}
	return all
}
