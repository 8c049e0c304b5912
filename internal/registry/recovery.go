package registry

import (
	"fmt"

	"signalbox/internal/workflow"
)

// PRState is the state of an environment's pull request on its forge; empty if unknown.
type PRState string

const (
	// PRNone: the forge has no pull request for the branch.
	PRNone PRState = "none"
	// PROpen: it waits to be merged or closed.
	PROpen PRState = "open"
	// PRMerged: the change is on the base branch.
	PRMerged PRState = "merged"
	// PRClosed: it was closed without a merge.
	PRClosed PRState = "closed"
)

// Surroundings are facts around an entry that no entry holds. The caller finds them out; the zero value says
// that nothing is known.
type Surroundings struct {
	// PR is the state of the pull request of the entry or of its branch.
	PR PRState
	// PRNumber is the number of the pull request that was found; 0 if only the entry's own is known.
	PRNumber int
	// Gone is true if the environment's folder doesn't exist any more. An environment that another tool made is
	// never known to be gone.
	Gone bool
	// Ref is the full name of a ref with the commits of an environment that is gone; empty if there is none.
	Ref string
}

// The actions of a ResumeAction that don't continue at the entry's phase. The others are in workflow.Positions,
// one for each phase.
const (
	// ResumeCreateNew: there is no entry. Make a new environment.
	ResumeCreateNew = "create_new"
	// ResumeNotifyHuman: a person must act. Message says why, SuggestedAction what to do.
	ResumeNotifyHuman = "notify_human"
	// ResumeOpen: open the environment and see. Also the action for a step that Signalbox doesn't know.
	ResumeOpen = "open_environment"
	// ResumeRecreate: the environment is gone. Make it again from the commits on Ref.
	ResumeRecreate = "recreate_environment"
	// ResumeDelete: delete the environment, once its work is on a ref, and then the entry.
	ResumeDelete = "delete_environment"
)

// ResumeAction says what to do with an environment that a person or a program left, with everything that is
// needed to do it. "signalbox env resume-action" prints it for people and, as JSON, for scripts and agents.
type ResumeAction struct {
	// Action is one of the constants above or a Resume of workflow.Positions, such as implement.
	Action string `json:"action"`
	// EnvID, IssueNumber and Branch are those of the entry; empty if there is none.
	EnvID       string `json:"env_id,omitempty"`
	IssueNumber int    `json:"issue_number,omitempty"`
	Branch      string `json:"branch,omitempty"`
	// PRNumber is the pull request that was found or else the entry's own; nil without one.
	PRNumber *int `json:"pr_number,omitempty"`
	// Phase and Step are where to continue. They are those of the entry, except that an entry whose pull request
	// was just discovered continues at pr-create.
	Phase *workflow.Phase   `json:"phase,omitempty"`
	Step  workflow.StepName `json:"step,omitempty"`
	// PendingIssues are the entry's review findings that are not resolved, one line each.
	PendingIssues []string `json:"pending_issues"`
	// Ref is set for ResumeRecreate: the ref with the commits.
	Ref string `json:"ref,omitempty"`
	// Record is the status to record before the action, because the entry's own is out of date; empty if it isn't.
	Record EnvironmentStatus `json:"record,omitempty"`
	// Message says on one line why this is the action, if that isn't obvious.
	Message string `json:"message,omitempty"`
	// SuggestedAction is what a person should do, for ResumeNotifyHuman.
	SuggestedAction string `json:"suggested_action,omitempty"`
	// Warning is something to check before the action, one line.
	Warning string `json:"warning,omitempty"`
}

// Recover returns the action for an entry that was found without knowing how its work ended. A nil entry means
// that there is none. The entry itself isn't changed.
//
// The pull request is considered first, because it may have changed since the entry was written. If it was
// merged, the entry counts as merged; if it was closed, a pr_created entry counts as abandoned; if there is an
// open one, or the entry has a number of unknown state, an active entry counts as pr_created. Then:
//
//	blocked      tell a person
//	merged       finish the cleanup, or close the issue if that is all that is left
//	abandoned    delete the environment and the entry
//	active       continue at the phase
//	pr_created   continue at the phase; at pr-create, reopen the environment for fixes
//
// If the environment is gone, the work continues only if a ref has its commits; otherwise a person must decide.
// The same goes for a status that Signalbox doesn't know.
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
		r.Action, r.Message = ResumeNotifyHuman, "Blocked: no reason is given"
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
		r.adapt(seen)
	default:
		r.Action, r.Message = ResumeNotifyHuman, fmt.Sprintf("status %q is unknown", e.Status)
	}
	return r
}

// statusBy returns the status that the entry should have by the state of its pull request. An active entry whose
// pull request was closed stays active: someone continued the work without it.
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

// resumed returns the action of the entry's position, with its inputs. The step's name is the key, whatever its
// number. An unknown step is resumed by opening the environment, with a warning.
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

// adapt fits the action of work that continues to its surroundings: a pull request that is open, closed or
// unknown, and an environment that is gone.
func (r *ResumeAction) adapt(seen Surroundings) {
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
		r.SuggestedAction = "restore the folder, or remove the entry and start again"
	case seen.PR == PROpen && r.Step == workflow.PRCreate.Step():
		r.Action, r.Message = ResumeOpen, "the pull request is open: reopen the environment for fixes"
	case seen.PR == PRClosed:
		r.Warning = "its pull request was closed unmerged"
	case seen.PR == "" && r.PRNumber != nil:
		r.Warning = "the state of its pull request is unknown"
	}
}
