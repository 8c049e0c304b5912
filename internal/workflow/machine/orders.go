package machine

import (
	"slices"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// admitted starts a run, or lets it go on after a wait, a stop or a crash. What
// was pending stays pending; a run that stopped with nothing pending opens its
// phase anew.
func (m *machine) admitted(e workflow.Admitted) bool {
	r := &m.run
	if r.State != workflow.Queued && r.State != workflow.Running {
		return false
	}
	r.State = workflow.Running
	if call := r.Details.Calling; call != nil && len(r.Details.Pending) > 0 {
		m.account(r.Details.Pending[0].Role, call) // it was cut off
		m.count(r.Details.Pending[0].Role)         // and is made again
	}
	r.Details.ParkedUntil, r.Details.Question = nil, nil // who asked was cut off
	m.ceil(e.Budget)
	r.Locks.Request, r.Locks.Queue = e.Request, e.Queue
	r.Details.Presence = r.Details.Presence.Readmitted(r.Details.Epoch == e.Epoch)
	r.Details.Epoch, r.Details.Preparing = e.Epoch, e.Prepare
	if r.Details.EnvID != "" && e.Isolation == workflow.IsolationNone {
		r.Details.Isolation = workflow.IsolationNone // said of the whole run once any command of it ran unprotected
	}
	m.sayDoing()
	switch {
	case m.goesFromBase(e):
	case m.mustAsk(r.Details.Phase): // saved by a version that did not ask
		r.Details.Pending = nil
		m.enter(workflow.ApprovalWait)
	case len(r.Details.Pending) > 0:
	case r.Details.Canceling:
		m.putAway()
	default:
		m.enter(r.Details.Phase)
	}
	return true
}

func (m *machine) named(e workflow.Named) bool {
	j := &m.run.Details
	if e.Program == "" || e.Program == j.Program {
		return false
	}
	j.Program = e.Program
	return true
}

func (m *machine) waiting(e workflow.Waiting) bool {
	message := "waiting for " + e.For
	if m.run.State != workflow.Queued && m.run.State != workflow.Running || m.run.State == workflow.Queued && m.run.Progress.Message == message {
		return false
	}
	m.run.State = workflow.Queued
	m.run.Locks.Request = e.Request
	m.say("%s", message)
	return true
}

func (m *machine) stopRequested(e workflow.StopRequested) bool {
	r := &m.run
	r.Signals.StopRequested = false
	r.Signals.Commands = without(r.Signals.Commands, workflow.CommandCancel)
	if e.Cancel {
		m.cancel()
		return true
	}
	switch {
	case r.State == workflow.Queued && m.madeNothing():
		m.end(workflow.Canceled)
		m.say("canceled before it began")
	case r.State == workflow.Queued || r.State == workflow.Running:
		m.stop(m.stoppedByPerson())
	}
	return true
}

// interrupted lets a run stand still until somebody carries it again. It grants nothing anew when it
// goes on: nobody looked at it.
func (m *machine) interrupted() bool {
	if r := &m.run; r.State != workflow.Queued && r.State != workflow.Running {
		return false
	}
	stop := m.stoppedByPerson()
	stop.Category, stop.ReasonCode, stop.Title = workflow.CategoryExecution, workflow.InterruptedCode, "interrupted"
	stop.Message = "the process that carried it was told to end, " + stop.Message
	m.stop(stop)
	return true
}

// prepared lets a run stand still as soon as somebody else can work in its environment.
func (m *machine) prepared() bool {
	r := &m.run
	if r.State != workflow.Queued && r.State != workflow.Running || r.Details.EnvID == "" || r.Details.Canceling {
		return false
	}
	stop := m.problem(workflow.CategoryInput, workflow.PreparedCode, "made ready for a session", "its environment is there; the run itself has gone no further")
	stop.Severity = workflow.Minor
	stop.Next = []workflow.NextStep{r.Ask("start a session in it", workflow.VerbStartSession), r.Ask("or carry it to its merge", workflow.VerbRun)}
	m.stop(stop)
	return true
}

// cancel gives the run up: at once when it made nothing yet, else by putting
// away what it made, which needs a runner.
func (m *machine) cancel() {
	r, j := &m.run, &m.run.Details
	if j.MergeCommit != "" {
		m.say("merged as %s already, so it is not given up", wording.ShortID(j.MergeCommit))
		return
	}
	j.Canceling, j.Blocked = true, nil
	onItsWay := slices.ContainsFunc(j.Pending, func(a workflow.Action) bool { return a.Kind == workflow.CreateBranch })
	j.Pending = nil
	switch {
	case m.madeNothing() && !onItsWay:
		m.end(workflow.Canceled)
		m.say("canceled before it began")
	case r.State == workflow.Running:
		m.putAway()
	default:
		m.queueAgain("waiting to be put away")
	}
}

// madeNothing: there is no branch yet, and so nothing to keep or to put away.
func (m *machine) madeNothing() bool { return m.run.Details.BaseCommit == "" }

// putAway orders the removal of what a given-up run made, one thing after the other.
func (m *machine) putAway() {
	j := &m.run.Details
	m.run.Stage = workflow.StageFinalizing
	m.say("putting away what was made")
	if j.PullRequest != nil && m.answered.Kind != workflow.ClosePullRequest {
		m.order(workflow.Action{Kind: workflow.ClosePullRequest})
		return
	}
	m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
}

// resumed queues a run that waited for a person; its budgets are granted anew, unless it waited for
// nobody.
func (m *machine) resumed(e workflow.Resumed) bool {
	m.run.Signals.ResumeRequested = false
	m.run.Signals.Commands = without(m.run.Signals.Commands, workflow.CommandForce)
	switch {
	case m.run.State == workflow.NeedsInput:
		if e.Force && m.run.Error.ReasonCode == workflow.WorkTooLarge {
			m.dropWorkFirst()
		}
		switch code := m.run.Error.ReasonCode; {
		case code == workflow.PreparedCode:
			// So far it made room for a session. It begins with the base branch of today, once what it depends on is merged there:
			// for the session neither was asked.
			if j := &m.run.Details; j.Head == j.BaseCommit {
				j.Pending, j.Phase = nil, workflow.BranchCreate
			}
		case code == workflow.TestsCannotRun && e.Force:
			m.run.Details.Tested.Forced = true
		default:
			m.run.Details.FromBase = m.resumesFromBase()
		}
		used, interrupted := m.run.Details.Used, m.run.Interrupted()
		m.queueAgain("resumed")
		if interrupted {
			m.run.Details.Used = used
		}
	case m.run.Details.ParkedUntil != nil:
		m.run.Details.ParkedUntil = nil
		m.say("resumed before its time")
	}
	return true
}

func (m *machine) retried() bool {
	m.run.Signals.Commands = without(m.run.Signals.Commands, workflow.CommandRetry)
	if m.run.State == workflow.Failed {
		m.run.Counters.Retries++
		m.run.Details.FromBase = true // what an agent left that failed is set aside before the next one begins
		m.queueAgain("to be tried again")
	}
	return true
}

// approved keeps a person's consent, which holds for one commit only and is
// taken only when it was asked for.
func (m *machine) approved(e workflow.Approved) bool {
	r, j := &m.run, &m.run.Details
	r.Signals.Commands = without(r.Signals.Commands, workflow.CommandApprove, workflow.CommandReject)
	switch {
	case !m.waitsForApproval():
	case e.Commit == "" || e.Commit != j.Head:
		m.say("an approval of %.10s was not taken: the change is now %.10s", e.Commit, j.Head)
	default:
		j.Approval = &workflow.Approval{Commit: e.Commit, By: e.By, At: m.now}
		for i := range j.Moves {
			j.Moves[i].Agreed = true
		}
		if j.SetUp.NeedsAgreement() {
			j.Approval.SetUp = j.SetUp.Content()
		}
		m.queueAgain("approved")
	}
	return true
}

// rejected sends the change back to the implementer with the person's reason.
func (m *machine) rejected(e workflow.Rejected) bool {
	r, j := &m.run, &m.run.Details
	r.Signals.Commands = without(r.Signals.Commands, workflow.CommandApprove, workflow.CommandReject)
	if !m.waitsForApproval() {
		return true
	}
	j.Findings = []workflow.Finding{{Source: workflow.FoundByPerson, Text: e.Reason}}
	j.Approval = nil
	j.Phase = workflow.ReviewFix
	m.queueAgain("sent back by a person")
	return true
}

func (m *machine) waitsForApproval() bool {
	return m.run.State == workflow.NeedsInput && m.run.Details.Phase == workflow.ApprovalWait
}

// queueAgain lets a stopped run be admitted again with fresh budgets.
func (m *machine) queueAgain(why string) {
	r, j := &m.run, &m.run.Details
	r.State, r.EndedAt, r.Error = workflow.Queued, nil, nil
	j.Blocked, j.ParkedUntil, j.Used = nil, nil, workflow.Used{Unknown: j.Used.Unknown}
	if step := m.currentStep(); step != nil && (step.Status == workflow.StepFailed || step.Status == workflow.StepNeedsInput) {
		step.Status, step.EndedAt, step.Error = workflow.StepRunning, nil, nil
		if len(j.Pending) == 0 {
			step.Attempt++
		}
	}
	if record := &j.Phases[j.Phase]; record.Status == workflow.StepFailed || record.Status == workflow.StepNeedsInput {
		record.Status, record.EndedAt = workflow.StepRunning, nil
	}
	m.say("%s", why)
}

func without(commands []workflow.Command, kinds ...workflow.CommandKind) []workflow.Command {
	return slices.DeleteFunc(commands, func(c workflow.Command) bool { return slices.Contains(kinds, c.Kind) })
}
