package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Decide is the whole judgement of Signalbox: given where a run is, one fact
// and the time, it answers where the run is now and what to do next. It is
// pure: the same arguments give the same answer, and run is not changed.
//
// A fact that does not apply (an outcome whose Key is not pending, an approval
// of another commit, anything after a final state) leaves the run as it is;
// then the Transition number is the same as before and nothing needs saving.
//
// The returned actions are run.Journey.Pending: perform them in order, one at a
// time, and report each outcome. No pending action in an ended state is to be
// performed; it is what a resumed run will begin with.
func Decide(run Run, event Event, now time.Time) (Run, []Action) {
	m := machine{run: run.clone(), now: now}
	if run.State.Final() || !m.takes(event) || !m.apply(event) {
		return run, run.Journey.Pending
	}
	m.settle()
	return m.run, m.run.Journey.Pending
}

// machine is one call of Decide: a run to work on and the time.
type machine struct {
	run Run
	now time.Time
	// answered is the pending action that the event answers, for those who order it again.
	answered Action
}

// takes tells orders, which are always looked at, from outcomes, which must
// answer the first pending action of a running run; it is then pending no more.
// A later one was not performed yet: an outcome for it is a second copy of the
// one that ordered it again.
func (m *machine) takes(event Event) bool {
	outcome, ok := event.(interface{ ActionKey() string })
	if !ok {
		return true
	}
	j := &m.run.Journey
	if m.run.State != Running || len(j.Pending) == 0 || j.Pending[0].Key != outcome.ActionKey() {
		return false
	}
	m.answered, j.Pending = j.Pending[0], j.Pending[1:]
	j.BranchAt = j.Head // nothing is performed before the branch was brought there
	return true
}

// apply changes the run by one fact and reports whether the fact applied.
func (m *machine) apply(event Event) bool {
	switch e := event.(type) {
	case Admitted:
		return m.admitted(e)
	case Named:
		return m.named(e)
	case Waiting:
		return m.waiting(e)
	case StopRequested:
		return m.stopRequested(e)
	case Interrupted:
		return m.interrupted()
	case Prepared:
		return m.prepared()
	case Resumed:
		return m.resumed(e)
	case Retried:
		return m.retried()
	case Approved:
		return m.approved(e)
	case SyncOrdered:
		return m.syncOrdered()
	case Rejected:
		return m.rejected(e)
	case AgentReported:
		return m.reported(e)
	case SessionBegan:
		m.sessionBegan(e)
		return true
	case SessionUsed:
		m.spend(e.Usage, 0)
		return e.Usage.Tokens() != 0 || e.Usage.CostMicroUSD != 0
	case WorkLaid:
		m.run.Journey.Upon = e.Commit
		return m.run.State != Running
	case WorkFound:
		return m.workFound(e)
	case BranchMoved:
		return m.branchMoved(e)
	case Asked:
		return m.questionAsked(e)
	case Answered:
		return m.questionAnswered(e)
	case Withdrawn:
		return m.questionWithdrawn(e)
	}
	m.outcome(event)
	return true
}

// outcome dispatches what an action brought.
func (m *machine) outcome(event Event) {
	if e, ok := event.(interface{ ofCall() *Call }); ok && m.answered.Kind == CallAgent {
		if call := cmp.Or(e.ofCall(), m.run.Journey.Calling); call != nil || !refusedForTheDay(event) {
			m.account(m.answered.Role, cmp.Or(call, &Call{}))
		}
	}
	switch m.answered.Kind {
	case CallAgent, RunTests, RenewEnvironment, DropWork:
		m.run.Journey.Upon = "" // they begin with Head
	}
	switch e := event.(type) {
	case DependenciesChecked:
		m.dependenciesChecked(e)
	case BranchCreated:
		m.branchCreated(e)
	case EnvironmentDetected:
		m.environmentDetected(e)
	case EnvironmentCreated:
		m.environmentCreated(e)
	case DesignFound:
		m.advance(countNote(len(e.Files), "document"))
	case PlanAnswered:
		m.planAnswered(e)
	case PlanWritten:
		m.planWritten(e)
	case AnswerRefused:
		m.answerRefused(e)
	case RepairAnswered:
		m.repairAnswered(e)
	case EnvironmentRenewed:
		m.environmentRenewed(e)
	case SetUpAdopted:
		m.setUpAdopted(e)
	case EnvironmentKept:
		m.environmentKept(e)
	case SetUpEnded:
		m.setUpEnded(e)
	case CommentPosted:
		m.testBase()
	case Implemented:
		m.implemented(e)
	case ChangeRecorded:
		m.changeRecorded(e)
	case ChangeRefused:
		m.workRefused(e)
	case TestsEnded:
		m.testsEnded(e)
	case ReviewAnswered:
		m.reviewAnswered(e)
	case AgentFailed:
		m.agentFailed(e)
	case PullRequestOpened:
		m.pullRequestOpened(e)
	case ChecksEnded:
		m.checksEnded(e)
	case BaseMerged:
		m.baseMerged(e)
	case Merged:
		m.merged(e)
	case BaseMoved:
		m.enter(CIWatch)
	case HeadMoved:
		m.enter(PRCreate)
	case PullRequestClosed:
		m.putAway()
	case EnvironmentRemoved:
		m.environmentRemoved(e)
	case AgreementFound:
		m.agreementFound(e)
	case AgreementKept:
		m.agreementKept(e)
	case RequestClosed:
		m.finish(Done)
	case Waited, WorkDropped:
		m.sayDoing()
	case ActionFailed:
		m.actionFailed(e)
	default:
		panic(fmt.Sprintf("workflow: no rule for %T", event)) // a new event without a rule is a bug, found by any test that sends it
	}
}

// settle brings what is derived up to date with the position.
func (m *machine) settle() {
	r, j := &m.run, &m.run.Journey
	j.Transition++
	j.StepName = j.Phase.Step()
	m.settleQuestion()
	r.UpdatedAt = *notBefore(&m.now, &r.StartedAt)
	m.keepOrderOfTimes()
	r.Progress.Percent = r.percent()
	r.Locks.Request.Held = r.Locks.Request.Held && !r.State.Ended()
	r.Locks.Queue.Held = r.Locks.Queue.Held && r.State == Running
	r.Artifacts.ErrorsJSON = nil
	if r.Error != nil {
		name := r.dir() + "/errors.json"
		r.Artifacts.ErrorsJSON = &name
	}
}

// keepOrderOfTimes lets nothing end before it began: a clock may be set back in between.
func (m *machine) keepOrderOfTimes() {
	r := &m.run
	r.EndedAt = notBefore(r.EndedAt, &r.StartedAt)
	for i := range r.Steps {
		r.Steps[i].EndedAt = notBefore(r.Steps[i].EndedAt, r.Steps[i].StartedAt)
	}
	for i := range r.Journey.Phases {
		r.Journey.Phases[i].EndedAt = notBefore(r.Journey.Phases[i].EndedAt, r.Journey.Phases[i].StartedAt)
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
func (r *Run) percent() int {
	if r.State == Done {
		return 100
	}
	behind, all := 0, 0
	for _, p := range r.Journey.Phases {
		switch p.Status {
		case StepSkipped:
			continue
		case StepDone:
			behind++
		}
		all++
	}
	done, planned := 0, 0
	for _, s := range r.Steps {
		if s.Phase == r.Journey.Phase.Step() {
			planned++
			if s.Status == StepDone || s.Status == StepSkipped {
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

func (r Run) clone() Run {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Logs = slices.Clip(r.Steps[i].Logs) // so that appending makes a list of its own
	}
	r.Artifacts.Patches = slices.Clone(r.Artifacts.Patches)
	r.Signals.Commands = slices.Clone(r.Signals.Commands)
	j := &r.Journey
	j.Phases, j.Pending = slices.Clone(j.Phases), slices.Clone(j.Pending)
	j.Aside, j.Moves = slices.Clone(j.Aside), slices.Clone(j.Moves)
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

func countNote(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
