package registry

import (
	"fmt"

	"signalbox/internal/workflow"
)

// PRState is what is known of an environment's pull request; empty when nothing is.
type PRState string

const (
	PRNone   PRState = "none"
	PROpen   PRState = "open"
	PRMerged PRState = "merged"
	PRClosed PRState = "closed" // unmerged
)

// Surroundings are the facts around an entry that the entry itself cannot hold.
type Surroundings struct {
	PR PRState
	// PRNumber is the pull request that was found; 0 when only the entry's own is known.
	PRNumber int
	// Gone: the environment's folder is not there any more. Ref is where its commits still
	// are; empty if nowhere.
	Gone bool
	Ref  string
}

// Actions of a ResumeAction beside those of the position table.
const (
	ResumeCreateNew   = "create_new"
	ResumeNotifyHuman = "notify_human"
	ResumeOpen        = "open_environment"
	ResumeRecreate    = "recreate_environment" // from Ref
	ResumeDelete      = "delete_environment"   // after its work is on a ref, and the entry with it
)

// ResumeAction is what to do with an environment that somebody left, with all
// that is needed to do it (E9, E10).
type ResumeAction struct {
	Action        string            `json:"action"`
	EnvID         string            `json:"env_id,omitempty"`
	IssueNumber   int               `json:"issue_number,omitempty"`
	Branch        string            `json:"branch,omitempty"`
	PRNumber      *int              `json:"pr_number,omitempty"`
	Phase         *workflow.Phase   `json:"phase,omitempty"`
	Step          workflow.StepName `json:"step,omitempty"`
	PendingIssues []string          `json:"pending_issues"`
	Ref           string            `json:"ref,omitempty"`
	// Record is the status that the entry should have by what is known, where it has another.
	Record          EnvironmentStatus `json:"record,omitempty"`
	Message         string            `json:"message,omitempty"`
	SuggestedAction string            `json:"suggested_action,omitempty"`
	Warning         string            `json:"warning,omitempty"`
}

// Recover is the recovery matrix. No entry is nil.
func Recover(e *Environment, seen Surroundings) ResumeAction {
	if e == nil {
		return ResumeAction{Action: ResumeCreateNew}
	}
	at := *e
	at.Status = e.statusBy(seen.PR)
	r := at.resumed(seen)
	if at.Status != e.Status {
		r.Record = at.Status
	}
	switch at.Status {
	case EnvironmentBlocked:
		r.Action, r.Message = ResumeNotifyHuman, "Blocked: it does not say why"
		if e.Blocked != nil {
			r.Message, r.SuggestedAction = "Blocked: "+e.Blocked.Description, e.Blocked.SuggestedAction
		}
	case EnvironmentMerged:
		if *r.Phase < workflow.MergeCleanup {
			r.Action = workflow.MergeCleanup.Position().Resume
		}
	case EnvironmentAbandoned:
		r.Action = ResumeDelete
	case EnvironmentActive, EnvironmentPRCreated:
		r.goOn(seen)
	default:
		r.Action, r.Message = ResumeNotifyHuman, fmt.Sprintf("status %q is unknown", e.Status)
	}
	return r
}

// statusBy is the status by what became of the pull request. That it was closed
// ends only what was recorded as offered by it: whoever works on without it has a reason.
func (e *Environment) statusBy(pr PRState) EnvironmentStatus {
	switch {
	case e.Over():
	case pr == PRMerged:
		return EnvironmentMerged
	case pr == PRClosed && e.Status == EnvironmentPRCreated:
		return EnvironmentAbandoned
	case e.Status == EnvironmentActive && (pr == PROpen || pr == "" && e.PRNumber != nil):
		return EnvironmentPRCreated
	}
	return e.Status
}

// resumed is the action of the entry's position, with its inputs. The step's
// name is the key; an entry that was adopted was past opening its pull request.
func (e *Environment) resumed(seen Surroundings) ResumeAction {
	r := ResumeAction{EnvID: e.EnvID, IssueNumber: e.IssueNumber, Branch: e.Branch, PRNumber: e.PRNumber,
		Phase: &e.Phase, Step: e.Step, PendingIssues: e.PendingIssues}
	if seen.PRNumber > 0 {
		r.PRNumber = &seen.PRNumber
	}
	phase, known := workflow.PhaseOf(e.Step)
	if !known {
		r.Action = ResumeOpen
		r.Warning = fmt.Sprintf("step %q is unknown", e.Step)
		return r
	}
	r.Phase, r.Action = &phase, phase.Position().Resume
	return r
}

func (r *ResumeAction) goOn(seen Surroundings) {
	if r.Record == EnvironmentPRCreated && *r.Phase < workflow.PRCreate {
		p := workflow.PRCreate
		r.Phase, r.Step, r.Action = &p, p.Step(), p.Position().Resume
	}
	switch {
	case seen.Gone && *r.Phase > workflow.EnvCreate && seen.Ref != "":
		r.Action, r.Ref = ResumeRecreate, seen.Ref
		r.Message = "the environment's folder is gone; its commits are on " + seen.Ref
	case seen.Gone && *r.Phase > workflow.EnvCreate:
		r.Action = ResumeNotifyHuman
		r.Message = "the environment's folder is gone, and no ref leads to its commits"
		r.SuggestedAction = "bring the folder back, or remove the entry and start again"
	case seen.PR == PROpen && r.Step == workflow.PRCreate.Step():
		r.Action, r.Message = ResumeOpen, "the pull request is open: reopen the environment for fixes"
	case seen.PR == PRClosed:
		r.Warning = "its pull request was closed unmerged"
	case seen.PR == "" && r.PRNumber != nil:
		r.Warning = "the state of its pull request is not known"
	}
}
