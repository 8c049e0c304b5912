package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// Decide is the whole judgement of Signalbox: given where a run is, one fact
// and the time, it answers where the run is now and what to do next. It is
// pure: the same arguments give the same answer, and run is not changed.
//
// A fact that does not apply (an outcome whose Key is not pending, an approval
// of another commit, anything after a final state) leaves the run as it is;
// then the Transition number is the same as before and nothing needs saving.
//
// The returned actions are run.Details.Pending: perform them in order, one at a
// time, and report each outcome. No pending action in an ended state is to be
// performed; it is what a resumed run will begin with.
func Decide(run workflow.Run, event workflow.Event, now time.Time) (workflow.Run, []workflow.Action) {
	m := machine{run: clone(run), now: now}
	if run.State.Final() || !m.takes(event) || !m.apply(event) {
		return run, run.Details.Pending
	}
	m.settle()
	return m.run, m.run.Details.Pending
}

// machine is one call of Decide: a run to work on and the time.
type machine struct {
	run workflow.Run
	now time.Time
	// answered is the pending action that the event answers, for those who order it again.
	answered workflow.Action
}

// takes tells orders, which are always looked at, from outcomes, which must
// answer the first pending action of a running run; it is then pending no more.
// A later one was not performed yet: an outcome for it is a second copy of the
// one that ordered it again.
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
	j.BranchAt = j.Head // nothing is performed before the branch was brought there
	return true
}

// apply changes the run by one fact and reports whether the fact applied.
func (m *machine) apply(event workflow.Event) bool {
	switch e := event.(type) {
	case workflow.Admitted:
		return m.admitted(e)
	case workflow.Named:
		return m.named(e)
	case workflow.Waiting:
		return m.waiting(e)
	case workflow.StopRequested:
		return m.stopRequested(e)
	case workflow.Interrupted:
		return m.interrupted()
	case workflow.Prepared:
		return m.prepared()
	case workflow.Resumed:
		return m.resumed(e)
	case workflow.Retried:
		return m.retried()
	case workflow.Approved:
		return m.approved(e)
	case workflow.SyncOrdered:
		return m.syncOrdered()
	case workflow.Rejected:
		return m.rejected(e)
	case workflow.AgentReported:
		return m.reported(e)
	case workflow.SessionBegan:
		m.sessionBegan(e)
		return true
	case workflow.SessionUsed:
		m.spend(e.Usage, 0)
		return e.Usage.Tokens() != 0 || e.Usage.CostMicroUSD != 0
	case workflow.SessionBaseSet:
		m.run.Details.SessionBase = e.Commit
		return m.run.State != workflow.Running
	case workflow.WorkFound:
		return m.workFound(e)
	case workflow.BranchMoved:
		return m.branchMoved(e)
	case workflow.Asked:
		return m.questionAsked(e)
	case workflow.Answered:
		return m.questionAnswered(e)
	case workflow.Withdrawn:
		return m.questionWithdrawn(e)
	}
	m.outcome(event)
	return true
}

// outcome dispatches what an action brought.
func (m *machine) outcome(event workflow.Event) {
	j := &m.run.Details
	if m.answered.Kind == workflow.CallAgent {
		failed, _ := event.(workflow.AgentFailed)
		// Of what the day's budget kept from being begun there is no call to book.
		if call := cmp.Or(event.Answers().Call, j.Calling); call != nil || failed.Code != workflow.AgentDaySpentCode {
			m.account(m.answered.Role, cmp.Or(call, &workflow.Call{}))
		}
	}
	switch m.answered.Kind {
	case workflow.CallAgent, workflow.RunTests, workflow.RestoreEnvironment, workflow.DropWork:
		j.SessionBase = "" // they begin with Head
	}
	switch e := event.(type) {
	case workflow.DependenciesChecked:
		m.dependenciesChecked(e)
	case workflow.BranchCreated:
		j.BaseCommit, j.Head, j.StepBase, j.BranchAt = e.BaseCommit, e.BaseCommit, e.BaseCommit, e.BaseCommit
		m.advance("")
	case workflow.EnvironmentDetected:
		j.Detection = &e.Detection
		m.order(workflow.Action{Kind: workflow.CreateEnvironment})
	case workflow.EnvironmentCreated:
		m.environmentCreated(e)
	case workflow.DesignFound:
		m.advance(wording.Count(len(e.Files), "document"))
	case workflow.PlanAnswered:
		m.planAnswered(e)
	case workflow.PlanWritten:
		m.planWritten(e)
	case workflow.AnswerRefused:
		m.answerRefused(e)
	case workflow.RepairAnswered:
		m.repairAnswered(e)
	case workflow.EnvironmentRestored:
		m.environmentRenewed(e)
	case workflow.SetUpAdopted:
		j.SetUp.Untracked = e.Untracked
		m.runBaseTests()
	case workflow.SnapshotTaken:
		m.environmentKept(e)
	case workflow.SetUpEnded:
		m.setUpEnded(e)
	case workflow.CommentPosted:
		m.testBase()
	case workflow.Implemented:
		m.implemented(e)
	case workflow.ChangeRecorded:
		m.changeRecorded(e)
	case workflow.ChangeRefused:
		m.workRefused(e)
	case workflow.TestsEnded:
		m.testsEnded(e)
	case workflow.ReviewAnswered:
		m.reviewAnswered(e)
	case workflow.AgentFailed:
		m.agentFailed(e)
	case workflow.PullRequestOpened:
		m.pullRequestOpened(e)
	case workflow.ChecksEnded:
		m.checksEnded(e)
	case workflow.BaseMerged:
		m.baseMerged(e)
	case workflow.Merged:
		j.MergeCommit = e.Commit
		m.say("merged as %s, putting the environment away", wording.ShortID(e.Commit))
		m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
	case workflow.BaseMoved:
		m.enter(workflow.CIWatch)
	case workflow.HeadMoved:
		m.enter(workflow.PRCreate)
	case workflow.PullRequestClosed:
		m.putAway()
	case workflow.EnvironmentRemoved:
		m.environmentRemoved(e)
	case workflow.AgreementFound:
		m.agreementFound(e)
	case workflow.AgreementKept:
		m.agreementKept(e)
	case workflow.RequestClosed:
		m.finish(workflow.Done)
	case workflow.Waited, workflow.WorkDropped:
		m.sayDoing()
	case workflow.ActionFailed:
		m.actionFailed(e)
	default:
		panic(fmt.Sprintf("workflow: no rule for %T", event)) // a new event without a rule is a bug, found by any test that sends it
	}
}

// settle brings what is derived up to date with the position.
func (m *machine) settle() {
	r, j := &m.run, &m.run.Details
	j.Transition++
	j.StepName = j.Phase.Step()
	if q := j.Question; q != nil && (r.State != workflow.Running || len(j.Pending) == 0 || j.Pending[0].Key != q.Key) {
		j.Question = nil // no question outlives the call that asked it
	}
	// A clock may be set back in between, and still nothing ends before it began.
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

// percent is the share of the phases to go through that are behind the run;
// steps divide their phase's.
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

func clone(r workflow.Run) workflow.Run {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Logs = slices.Clip(r.Steps[i].Logs) // so that appending makes a list of its own
	}
	r.Artifacts.Patches = slices.Clone(r.Artifacts.Patches)
	r.Signals.Commands = slices.Clone(r.Signals.Commands)
	j := &r.Details
	j.Phases, j.Pending = slices.Clone(j.Phases), slices.Clone(j.Pending)
	j.SavedWork, j.Moves = slices.Clone(j.SavedWork), slices.Clone(j.Moves)
	j.Findings, j.Flags, j.Evidence = slices.Clone(j.Findings), slices.Clone(j.Flags), slices.Clone(j.Evidence)
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
