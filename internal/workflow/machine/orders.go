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
	if call := r.Journey.Calling; call != nil && len(r.Journey.Pending) > 0 {
		m.account(r.Journey.Pending[0].Role, call) // it was cut off
		m.count(r.Journey.Pending[0].Role)         // and is made again
	}
	r.Journey.ParkedUntil, r.Journey.Question = nil, nil // who asked was cut off
	m.ceil(e.Ceiling)
	r.Locks.Request, r.Locks.Queue = e.Request, e.Queue
	r.Journey.Presence = r.Journey.Presence.Readmitted(r.Journey.Epoch == e.Epoch)
	r.Journey.Epoch, r.Journey.Preparing = e.Epoch, e.Prepare
	if r.Journey.EnvID != "" && e.Isolation == workflow.IsolationNone {
		r.Journey.Isolation = workflow.IsolationNone // said of the whole run once any command of it ran unprotected
	}
	m.sayDoing()
	switch {
	case m.goesFromBase(e):
	case m.mustAsk(r.Journey.Phase): // saved by a version that did not ask
		r.Journey.Pending = nil
		m.enter(workflow.ApprovalWait)
	case len(r.Journey.Pending) > 0:
	case r.Journey.Canceling:
		m.putAway()
	default:
		m.enter(r.Journey.Phase)
	}
	return true
}

func (m *machine) named(e workflow.Named) bool {
	j := &m.run.Journey
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
	if r.State != workflow.Queued && r.State != workflow.Running || r.Journey.EnvID == "" || r.Journey.Canceling {
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
	r, j := &m.run, &m.run.Journey
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
func (m *machine) madeNothing() bool { return m.run.Journey.BaseCommit == "" }

// putAway orders the removal of what a given-up run made, one thing after the other.
func (m *machine) putAway() {
	j := &m.run.Journey
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
			m.beginAsOrdered()
		case code == workflow.TestsCannotRun && e.Force:
			m.run.Journey.Tested.Forced = true
		default:
			m.run.Journey.FromBase = m.resumesFromBase()
		}
		used, interrupted := m.run.Journey.Used, m.run.Interrupted()
		m.queueAgain("resumed")
		if interrupted {
			m.run.Journey.Used = used
		}
	case m.run.Journey.ParkedUntil != nil:
		m.run.Journey.ParkedUntil = nil
		m.say("resumed before its time")
	}
	return true
}

func (m *machine) retried() bool {
	m.run.Signals.Commands = without(m.run.Signals.Commands, workflow.CommandRetry)
	if m.run.State == workflow.Failed {
		m.run.Counters.Retries++
		m.run.Journey.FromBase = true // what an agent left that failed is set aside before the next one begins
		m.queueAgain("to be tried again")
	}
	return true
}

// approved keeps a person's consent, which holds for one commit only and is
// taken only when it was asked for.
func (m *machine) approved(e workflow.Approved) bool {
	r, j := &m.run, &m.run.Journey
	r.Signals.Commands = without(r.Signals.Commands, workflow.CommandApprove, workflow.CommandReject)
	switch {
	case !m.waitsForApproval():
	case e.Commit == "" || e.Commit != j.Head:
		m.say("an approval of %.10s was not taken: the change is now %.10s", e.Commit, j.Head)
	default:
		j.Approval = &workflow.Approval{Commit: e.Commit, By: e.By, At: m.now}
		j.AgreeToMoves()
		if j.SetUp.NeedsAgreement() {
			j.Approval.SetUp = j.SetUp.Content()
		}
		m.queueAgain("approved")
	}
	return true
}

// rejected sends the change back to the implementer with the person's reason.
func (m *machine) rejected(e workflow.Rejected) bool {
	r, j := &m.run, &m.run.Journey
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
	return m.run.State == workflow.NeedsInput && m.run.Journey.Phase == workflow.ApprovalWait
}

// queueAgain lets a stopped run be admitted again with fresh budgets.
func (m *machine) queueAgain(why string) {
	r, j := &m.run, &m.run.Journey
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
