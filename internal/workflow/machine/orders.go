package machine

import (
	"cmp"
	"slices"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// obey takes an event that answers no action: an order from a person or from the queue, or something that the engine noticed. It reports
// whether the event changed anything.
func (m *machine) obey(event workflow.Event) bool {
	r, j := &m.run, &m.run.Details
	underWay := r.UnderWay()
	switch e := event.(type) {
	case workflow.Admitted:
		if !underWay {
			return false
		}
		m.admitted(e)
	case workflow.Named:
		if e.Program == "" || e.Program == j.Program {
			return false
		}
		j.Program = e.Program
	case workflow.Waiting:
		message := "waiting for " + e.For
		if !underWay || r.State == workflow.Queued && r.Progress.Message == message {
			return false
		}
		r.State, r.Locks.Request = workflow.Queued, e.Request
		m.say("%s", message)
	case workflow.StopRequested:
		m.stopRequested(e)
	case workflow.Interrupted:
		if !underWay {
			return false
		}
		stop := m.stoppedByPerson()
		stop.Category, stop.ReasonCode, stop.Title = workflow.CategoryExecution, workflow.InterruptedCode, "interrupted"
		stop.Message = "its process was told to end, " + stop.Message
		m.stop(stop)
	case workflow.Prepared:
		if !underWay || j.EnvID == "" || j.Canceling {
			return false
		}
		stop := m.problem(workflow.CategoryInput, workflow.PreparedCode, "made ready for a session", "its environment is there; the run itself has gone no further")
		stop.Severity = workflow.Minor
		stop.Next = []workflow.NextStep{r.Ask("start a session in it", workflow.VerbStartSession), r.Ask("or run it to its merge", workflow.VerbRun)}
		m.stop(stop)
	case workflow.Resumed:
		m.resumed(e)
	case workflow.Retried:
		m.acknowledge(workflow.CommandRetry)
		if r.State == workflow.Failed {
			r.Counters.Retries++
			j.FromBase = true // before the next agent begins, what the failed one left is saved to a ref
			m.queueAgain("to be tried again")
		}
	case workflow.Approved, workflow.Rejected:
		m.answerApproval(e)
	case workflow.SyncOrdered:
		m.acknowledge(workflow.CommandSync)
		if r.MaySync() {
			m.queueAgain("to be brought up to date with " + j.Base)
			m.mergeBaseIn()
		}
	case workflow.Woken:
		told := slices.ContainsFunc(r.Signals.Commands, func(c workflow.Command) bool { return c.Kind == workflow.CommandWake })
		m.acknowledge(workflow.CommandWake)
		switch watches := r.Watches(); {
		case watches && r.State == workflow.Queued:
			j.ParkedUntil = nil
		case watches:
			j.Pending = j.Pending[1:]
		default:
			return told
		}
	default:
		return m.notice(event)
	}
	return true
}

// notice takes a fact that the engine reports while it performs an action, or that a session reports.
func (m *machine) notice(event workflow.Event) bool {
	r, j := &m.run, &m.run.Details
	calls := func(key string) bool {
		return r.State == workflow.Running && len(j.Pending) > 0 && j.Pending[0].Key == key
	}
	switch e := event.(type) {
	case workflow.AgentReported: // saved at once, so a crash loses neither the conversation nor its cost
		if !calls(e.Key) {
			return false
		}
		j.Calling = &e.Call
	case workflow.Asked:
		return calls(e.Question.Key) && m.questionAsked(e)
	case workflow.Answered:
		return m.questionAnswered(e)
	case workflow.Withdrawn:
		if q := j.Question; q == nil || q.ID != e.Question {
			return false
		}
		j.Question = nil
		m.sayDoing()
	case workflow.SessionBegan: // counted before the session can use anything
		j.Epoch = max(j.Epoch, e.Epoch)
		m.limitSpending(e.Budget)
		if e.Grant {
			j.Used.Tokens, j.Used.CostMicroUSD, j.Used.Calls = 0, 0, 0
		}
		m.spend(workflow.Usage{}, 1)
	case workflow.SessionUsed:
		m.spend(e.Usage, 0)
		return e.Usage.Tokens() != 0 || e.Usage.CostMicroUSD != 0
	case workflow.SessionBaseSet:
		j.SessionBase = e.Commit
		return r.State != workflow.Running
	case workflow.WorkFound:
		if r.State != workflow.Running || slices.Contains(j.SavedWork, e.Ref) {
			return false
		}
		j.SavedWork = append(j.SavedWork, e.Ref)
	case workflow.BranchMoved:
		return m.branchMoved(e)
	default:
		panic("workflow: no rule for " + string(workflow.NameOf(event))) // a bug, as in apply
	}
	return true
}

// admitted starts a run, or continues it after a wait, a stop or a crash. Pending actions stay pending; a run that
// stopped with none opens its phase again.
func (m *machine) admitted(e workflow.Admitted) {
	r, j := &m.run, &m.run.Details
	r.State = workflow.Running
	if call := j.Calling; call != nil && len(j.Pending) > 0 { // it was cut off, and is made again
		m.account(j.Pending[0].Role, call)
		m.count(j.Pending[0].Role)
	}
	j.ParkedUntil, j.Question = nil, nil // the agent that asked was cut off
	m.limitSpending(e.Budget)
	r.Locks.Request, r.Locks.Queue = e.Request, e.Queue
	if j.Epoch != e.Epoch { // another engine: it knows nothing of the environment
		j.Presence = workflow.Presence{Unknown: j.Presence.Unknown}
	}
	j.Presence.Content, j.Presence.TestedAt = "", "" // an action that was stopped reports no outcome, so neither engine knows the content
	j.Epoch, j.Preparing = e.Epoch, e.Prepare
	if j.EnvID != "" && e.Isolation == workflow.IsolationNone && !j.Canceling { // to remove it, no command of the run is needed
		j.Isolation = workflow.IsolationNone // one unprotected command is enough to say so of the whole run
	}
	if !j.ChecksPassed() { // otherwise it still waits for what it said
		m.sayDoing()
	}
	if j.Phase == workflow.ApprovalWait {
		m.takeTests(e.Settings) // the merge candidate has to pass them
	}
	switch {
	case m.goesFromBase(e):
	case m.mustAsk(j.Phase): // saved by a version that did not ask
		j.Pending = nil
		m.enter(workflow.ApprovalWait)
	case len(j.Pending) > 0:
	case j.Canceling:
		m.remove()
	default:
		m.enter(j.Phase)
	}
}

// stopRequested stops the run for a person, or cancels it: at once if it made nothing yet, otherwise by removing what
// it made, which needs a runner.
func (m *machine) stopRequested(e workflow.StopRequested) {
	r, j := &m.run, &m.run.Details
	r.Signals.StopRequested = false
	m.acknowledge(workflow.CommandCancel)
	madeNothing := j.BaseCommit == ""
	if e.Cancel && j.MergeCommit != "" {
		m.say("merged as %s already, so it is not given up", wording.ShortID(j.MergeCommit))
		return
	}
	if e.Cancel {
		madeNothing = madeNothing && !slices.ContainsFunc(j.Pending, func(a workflow.Action) bool { return a.Kind == workflow.CreateBranch })
		j.Canceling, j.Blocked, j.Pending = true, nil, nil
	}
	switch {
	case madeNothing && (e.Cancel || r.State == workflow.Queued):
		m.end(workflow.Canceled)
		m.say("canceled before it began")
	case e.Cancel && r.State == workflow.Running:
		m.remove()
	case e.Cancel:
		m.queueAgain("waiting to be removed")
	case r.UnderWay():
		m.stop(m.stoppedByPerson())
	}
}

// remove orders the removal of what a canceled run made, one thing after the other.
func (m *machine) remove() {
	m.run.Stage = workflow.StageFinalizing
	m.say("removing its branch and environment")
	if m.run.Details.PullRequest != nil && m.answered.Kind != workflow.ClosePullRequest {
		m.order(workflow.Action{Kind: workflow.ClosePullRequest})
		return
	}
	m.order(workflow.Action{Kind: workflow.RemoveEnvironment})
}

// resumed queues a run that waited for a person. Its budgets start again, unless no person was waited for.
func (m *machine) resumed(e workflow.Resumed) {
	r, j := &m.run, &m.run.Details
	r.Signals.ResumeRequested = false
	m.acknowledge(workflow.CommandForce)
	if r.State != workflow.NeedsInput {
		if j.ParkedUntil != nil {
			j.ParkedUntil = nil
			m.say("resumed before its time")
		}
		return
	}
	if e.Force && r.Error.ReasonCode == workflow.WorkTooLarge {
		// A person said that work that is too large to save may be lost. That holds for what is in the environment now, so it is dropped
		// before anything else runs there.
		rest := j.Pending
		j.Pending = nil
		m.order(workflow.Action{Kind: workflow.DropWork})
		j.Pending = append(j.Pending, rest...)
	}
	switch code := r.Error.ReasonCode; {
	case code == workflow.PreparedCode:
		// Preparing a session asked neither for the newest base branch nor for merged dependencies; the run itself needs both.
		if j.Head == j.BaseCommit {
			j.Pending, j.Phase = nil, workflow.BranchCreate
		}
	case code == workflow.TestsCannotRun && e.Force:
		j.Tested.Forced = true
	case j.Canceling:
		j.FromBase = false
	default:
		// The base may be merged first if the next action begins from the last commit. Unrecorded work in the environment belongs to the
		// commit that it started from. After answers that could not be used, the configuration may leave that role out now.
		unpaid := r.Counters.ImplementerCalls == 0 || code == workflow.TestsCannotRun
		j.FromBase = j.NothingRecorded() && unpaid || code == workflow.ContractBrokenCode || j.BaseCommit != "" && m.beginsFromHead() && !r.Interrupted()
	}
	used, interrupted := j.Used, r.Interrupted()
	m.queueAgain("resumed")
	if interrupted {
		j.Used = used
	}
}

// answerApproval takes a person's approval, which holds for one commit only, or sends the change back to the implementer with the person's
// reason. Neither counts unless the run asks for it.
func (m *machine) answerApproval(event workflow.Event) {
	r, j := &m.run, &m.run.Details
	m.acknowledge(workflow.CommandApprove, workflow.CommandReject)
	if !r.AsksForApproval() {
		return
	}
	watched := r.UnderWay()
	if e, ok := event.(workflow.Rejected); ok {
		var earlier []string
		if j.Rejection != nil {
			earlier = append(slices.Clip(j.Rejection.Earlier), j.Rejection.Reason)
		}
		j.Rejection = &workflow.Rejection{Commit: j.Head, Reason: e.Reason, Earlier: earlier, By: e.By, At: m.now}
		j.Findings = []workflow.Finding{j.Rejection.Finding()}
		j.Approval = nil
		if watched {
			j.Pending, j.ParkedUntil = nil, nil
			m.close(workflow.StepDone, "sent back by a person")
			m.enter(workflow.ReviewFix)
			return
		}
		j.Phase = workflow.ReviewFix
		m.queueAgain("sent back by a person")
		return
	}
	e, _ := event.(workflow.Approved)
	if e.Commit == "" || e.Commit != j.Head {
		m.say("an approval of %.10s was not taken: the change is now %.10s", e.Commit, j.Head)
		return
	}
	if j.SentBack() { // the person takes it as it is after all
		j.Rejection = nil
	}
	j.Approval = &workflow.Approval{Commit: e.Commit, By: e.By, At: m.now}
	if watched {
		j.ParkedUntil, j.PullRequest.Awaits = nil, nil
		m.say("approved by %s", cmp.Or(e.By, "a person"))
		return
	}
	j.Findings = nil // the person knew of them
	for i := range j.Moves {
		j.Moves[i].Agreed = true
	}
	if j.SetUp.NeedsAgreement() {
		j.Approval.SetUp = j.SetUp.Content()
	}
	m.queueAgain("approved")
}

// queueAgain queues a stopped run with fresh budgets.
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

// acknowledge removes the commands of these kinds from the run's signals.
func (m *machine) acknowledge(kinds ...workflow.CommandKind) {
	s := &m.run.Signals
	s.Commands = slices.DeleteFunc(s.Commands, func(c workflow.Command) bool { return slices.Contains(kinds, c.Kind) })
}
