package workflow

import (
	"slices"
	"time"
)

// end puts the run into an ended state.
func (m *machine) end(state State) {
	r := &m.run
	r.State, r.EndedAt, r.Journey.ParkedUntil = state, &m.now, nil
	if state.Final() {
		r.Stage, r.Error = StageEnd, nil
		r.Journey.Pending, r.Journey.Blocked = nil, nil
	}
	if state == Canceled {
		m.giveUp()
	}
}

// giveUp leaves nothing behind that reads as if somebody were at work.
func (m *machine) giveUp() {
	if step := m.currentStep(); step != nil && step.Status != StepDone && step.Status != StepPending {
		step.Status, step.EndedAt = StepSkipped, &m.now
	}
	record := &m.run.Journey.Phases[m.run.Journey.Phase]
	if record.Status != StepDone && record.Status != StepPending {
		record.Status, record.Note, record.EndedAt = StepSkipped, "given up", &m.now
	}
}

// problem begins an Error; whoever stops the run adds what only they know.
func (m *machine) problem(category Category, code, title, message string) Error {
	return Error{Category: category, ReasonCode: code, Title: title, Message: message, Severity: Major,
		Next: []NextStep{m.run.Ask("when it is settled", VerbResume)}}
}

// stop ends the run in NEEDS_INPUT. What is pending stays so, and is where a
// resumed run goes on.
func (m *machine) stop(e Error) {
	e.Next = m.orGiveUp(e)
	m.halt(NeedsInput, StepNeedsInput, e)
}

// orGiveUp adds the way out that a run which is stuck always has. A change that waits for approval has another:
// it can be sent back.
func (m *machine) orGiveUp(e Error) []NextStep {
	j := &m.run.Journey
	named := func(s NextStep) bool { return s.Has(func(s NextStep) bool { return s.Verb == VerbStop && s.Cancel }) }
	if j.Canceling || j.MergeCommit != "" || e.ReasonCode == ApprovalRequired || e.ReasonCode == PreparedCode || slices.ContainsFunc(e.Next, named) {
		return e.Next
	}
	return append(slices.Clip(e.Next), m.run.GiveUp("or give it up; its work stays on a ref"))
}

// fail ends the run in FAILED. A retried run begins with the action given, or,
// where that is empty, by opening its phase anew.
func (m *machine) fail(e Error, first Action) {
	e.Retryable = true
	e.Next = []NextStep{m.run.Ask("see what happened", VerbLogs), m.run.Ask("try again", VerbRetry)}
	m.run.Journey.Pending = nil
	if first.Kind != "" {
		m.order(first)
	}
	m.halt(Failed, StepFailed, e)
}

func (m *machine) halt(state State, step StepStatus, e Error) {
	m.end(state)
	m.run.Error = &e
	m.say("%s", e.Title)
	if s := m.currentStep(); s != nil && s.Status == StepRunning {
		s.Status, s.EndedAt, s.Error = step, &m.now, &e
	}
	if record := &m.run.Journey.Phases[m.run.Journey.Phase]; record.Status == StepRunning || record.Status == StepPending {
		record.Status, record.EndedAt = step, &m.now
	}
}

// block stops the run with one of the published reasons (E5).
func (m *machine) block(reason BlockedReason, category Category, code, description string, suggestion NextStep) {
	r := &m.run
	r.Journey.Blocked = &Blocked{Reason: reason, Description: description, BlockedAt: m.now,
		Next: &suggestion, Context: map[string]any{}}
	stop := m.problem(category, code, blockedTitles[reason], description)
	stop.Severity = Blocker
	stop.Next = []NextStep{suggestion, r.ThenResume()}
	m.stop(stop)
}

var blockedTitles = map[BlockedReason]string{
	DesignAmbiguity:     "the request can be read in more than one way",
	ReviewLoopExceeded:  "the review keeps finding something",
	DependencyMissing:   "another request must be merged first",
	ExternalBlocker:     "something outside the project is in the way",
	ResourceLimit:       "this machine has run out of something",
	CIPersistentFailure: "the checks keep failing",
}

// CanBeForced reports whether a person can let the run go on against what stopped it.
func (r *Run) CanBeForced() bool {
	return r.State == NeedsInput && r.Error != nil && (r.Error.ReasonCode == WorkTooLarge || r.Error.ReasonCode == TestsCannotRun)
}

// Interrupted reports whether the run stands still for want of a process, and not for a person.
func (r *Run) Interrupted() bool {
	return r.State == NeedsInput && r.Error != nil && r.Error.ReasonCode == InterruptedCode
}

func (m *machine) stoppedByPerson() Error {
	r := &m.run
	doing := r.Journey.Phase.Position().Doing
	if r.Journey.SettingUp {
		doing = "setting up the environment"
	}
	stop := m.problem(CategoryInput, StopRequestedCode, "stopped by a person", "stopped while "+doing)
	stop.Severity = Minor
	stop.Next = []NextStep{r.Ask("go on", VerbResume)}
	return stop
}

// actionBackoff is the first wait before an action is repeated; it doubles up to maxBackoff.
const (
	actionBackoff = 5 * time.Second
	maxBackoff    = 10 * time.Minute
)

// actionFailed repeats what may pass by itself and stops for what will not.
func (m *machine) actionFailed(e ActionFailed) {
	r, used := &m.run, &m.run.Journey.Used
	defer m.before(r.Journey.Pending)
	r.Journey.Pending = nil
	if e.Error.Retryable && used.ActionRetries < r.Journey.Settings.Limits.ActionRetries {
		wait := min(max(e.RetryAfter, actionBackoff<<used.ActionRetries), maxBackoff)
		used.ActionRetries++
		r.Counters.Retries++
		m.waitThenAgain(wait, e.Error.Title+"; again in "+wait.String())
		return
	}
	m.order(m.answered)
	if reason, ok := blockingCodes[e.Error.ReasonCode]; ok {
		m.block(reason, e.Error.Category, e.Error.ReasonCode, e.Error.Message, firstStep(e.Error.Next))
		return
	}
	stop := e.Error
	if len(stop.Next) == 0 {
		stop.Next = m.problem("", "", "", "").Next
	}
	if stop.Severity == "" {
		stop.Severity = Major
	}
	m.stop(stop)
}

// blockingCodes are the reason codes that are one of the published reasons for being blocked.
var blockingCodes = map[string]BlockedReason{
	NoSpaceCode:          ResourceLimit,
	OutOfMemoryCode:      ResourceLimit,
	ForgeUnavailableCode: ExternalBlocker,
}

func (m *machine) waitThenAgain(wait time.Duration, why string) {
	until := m.now.Add(wait)
	m.say("%s", why)
	m.order(Action{Kind: Wait, Until: &until})
	m.order(m.answered)
}

func firstStep(steps []NextStep) NextStep {
	if len(steps) > 0 {
		return steps[0]
	}
	return Advice("mend it")
}
