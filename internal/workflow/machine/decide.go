package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// Decide takes a run, one fact and the time, and returns the run after it with the actions that are due. It is
// pure: the same arguments give the same answer, and run is not changed.
//
// A fact that doesn't apply (an outcome whose Key is not pending, an approval of another commit, anything after a
// final state) leaves the run as it is; then the Transition number is the same as before and nothing needs saving.
//
// The returned actions are run.Details.Pending: perform them in order, one at a time, and report each outcome. In an
// ended state none of them may be performed; a resumed run begins with them.
func Decide(run workflow.Run, event workflow.Event, now time.Time) (workflow.Run, []workflow.Action) {
	if run.State.Final() {
		return run, run.Details.Pending
	}
	m := machine{run: clone(run), now: now}
	if !m.takes(event) || !m.apply(event) {
		return run, run.Details.Pending
	}
	m.derive()
	return m.run, m.run.Details.Pending
}

// machine is one call of Decide: a run to work on and the time.
type machine struct {
	run workflow.Run
	now time.Time
	// answered is the pending action that the event answers; some events order it again.
	answered workflow.Action
}

// takes reports whether the event counts. An order always does. An outcome must answer the first pending action of a
// running run, which is no longer pending then. A later action was not performed yet: an outcome for it is a second
// copy of the outcome that ordered it again.
func (m *machine) takes(event workflow.Event) bool {
	outcome := event.Answers()
	if outcome == nil {
		return true
	}
	j := &m.run.Details
	if m.run.State != workflow.Running || len(j.Pending) == 0 || j.Pending[0].Key != outcome.Key {
		return false
	}
	m.answered, j.Pending = j.Pending[0], j.Pending[1:]
	if outcome.Presence != nil {
		j.Presence = *outcome.Presence
	}
	j.BranchAt = j.Head // the engine brings the branch there before it performs anything
	if m.answered.Kind == workflow.CallAgent {
		failed, _ := event.(workflow.AgentFailed)
		// If the day's budget kept the agent from starting, there is no call to book.
		if call := cmp.Or(outcome.Call, j.Calling); call != nil || failed.Code != workflow.AgentDaySpentCode {
			m.account(m.answered.Role, cmp.Or(call, &workflow.Call{}))
		}
	}
	switch m.answered.Kind {
	case workflow.CallAgent, workflow.RunTests, workflow.RestoreEnvironment, workflow.DropWork:
		j.SessionBase = "" // they begin with Head
	}
	return true
}

// apply changes the run by one fact and reports whether the fact applied.
func (m *machine) apply(event workflow.Event) bool {
	if event.Answers() == nil {
		return m.obey(event)
	}
	if !m.environmentAnswered(event) && !m.changeAnswered(event) && !m.publicationAnswered(event) {
		panic(fmt.Sprintf("workflow: no rule for %T", event)) // a new event without a rule is a bug, found by any test that sends it
	}
	return true
}

// derive updates what follows from the position, and the times.
func (m *machine) derive() {
	r, j := &m.run, &m.run.Details
	j.Transition++
	j.StepName = j.Phase.Step()
	if q := j.Question; q != nil && (r.State != workflow.Running || len(j.Pending) == 0 || j.Pending[0].Key != q.Key) {
		j.Question = nil // no question outlives the call that asked it
	}
	// The clock may have been set back in between; still nothing ends before it began.
	r.UpdatedAt = *notBefore(&m.now, &r.StartedAt)
	r.EndedAt = notBefore(r.EndedAt, &r.StartedAt)
	for i := range r.Steps {
		r.Steps[i].EndedAt = notBefore(r.Steps[i].EndedAt, r.Steps[i].StartedAt)
	}
	for i := range j.Phases {
		j.Phases[i].EndedAt = notBefore(j.Phases[i].EndedAt, j.Phases[i].StartedAt)
	}
	r.Progress.Percent = percent(r)
	r.Locks.Request.Held = r.Locks.Request.Held && !r.State.Ended()
	r.Locks.Queue.Held = r.Locks.Queue.Held && r.State == workflow.Running
	r.Artifacts.ErrorsJSON = nil
	if r.Error != nil {
		name := r.Dir() + "/errors.json"
		r.Artifacts.ErrorsJSON = &name
	}
}

func notBefore(end, start *time.Time) *time.Time {
	if end == nil || start == nil || !end.Before(*start) {
		return end
	}
	return start
}

// percent returns the share of the run's phases that are done. Steps divide the share of their phase.
func percent(r *workflow.Run) int {
	if r.State == workflow.Done {
		return 100
	}
	behind, all := 0, 0
	for _, p := range r.Details.Phases {
		switch p.Status {
		case workflow.StepSkipped:
			continue
		case workflow.StepDone:
			behind++
		}
		all++
	}
	done, planned := 0, 0
	for _, s := range r.Steps {
		if s.Phase == r.Details.Phase.Step() {
			planned++
			if s.Status == workflow.StepDone || s.Status == workflow.StepSkipped {
				done++
			}
		}
	}
	percent := behind * 100 / all
	if planned > 0 {
		percent += done * 100 / planned / all
	}
	return min(percent, 99)
}

// clone returns a copy that shares nothing with r that a rule changes in place.
func clone(r workflow.Run) workflow.Run {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Logs = slices.Clip(r.Steps[i].Logs) // so that appending makes a list of its own
	}
	r.Artifacts.Patches = slices.Clip(r.Artifacts.Patches)
	r.Signals.Commands = slices.Clone(r.Signals.Commands)
	j := &r.Details
	j.Phases, j.Pending = slices.Clone(j.Phases), slices.Clone(j.Pending)
	j.SavedWork, j.Moves = slices.Clip(j.SavedWork), slices.Clone(j.Moves)
	j.Findings, j.Flags, j.Evidence = slices.Clone(j.Findings), slices.Clip(j.Flags), slices.Clone(j.Evidence)
	if j.SetUp != nil {
		setUp := *j.SetUp
		setUp.Errors, setUp.Ran, setUp.Verified = slices.Clone(setUp.Errors), slices.Clone(setUp.Ran), slices.Clone(setUp.Verified)
		j.SetUp = &setUp
	}
	if j.Tested != nil {
		tested := *j.Tested
		j.Tested = &tested
	}
	if j.PullRequest != nil {
		pr := *j.PullRequest
		j.PullRequest = &pr
	}
	return r
}
