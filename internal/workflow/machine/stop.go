package machine

import (
	"fmt"
	"slices"
	"time"

	"signalbox/internal/workflow"
)

// end puts the run into an ended state.
func (m *machine) end(state workflow.State) {
	r := &m.run
	r.State, r.EndedAt, r.Details.ParkedUntil = state, &m.now, nil
	if state.Final() {
		r.Stage, r.Error = workflow.StageEnd, nil
		r.Details.Pending, r.Details.Blocked = nil, nil
	}
	if state != workflow.Canceled {
		return
	}
	// No record may say that work is still going on.
	if step := m.currentStep(); step != nil && step.Status != workflow.StepDone && step.Status != workflow.StepPending {
		step.Status, step.EndedAt = workflow.StepSkipped, &m.now
	}
	record := &r.Details.Phases[r.Details.Phase]
	if record.Status != workflow.StepDone && record.Status != workflow.StepPending {
		record.Status, record.Note, record.EndedAt = workflow.StepSkipped, "given up", &m.now
	}
}

// problem returns the Error of a stop. Its next step, unless the caller has a better one, is to resume.
func (m *machine) problem(category workflow.Category, code, title, message string) workflow.Error {
	return workflow.Error{Category: category, ReasonCode: code, Title: title, Message: message, Severity: workflow.Major,
		Next: []workflow.NextStep{m.run.Ask("when it is settled", workflow.VerbResume)}}
}

// stop ends the run in NEEDS_INPUT. Pending actions stay pending, and a resumed run continues with them. A person can
// always give up a run that is stuck. A change that waits for approval has another way out: sending it back.
func (m *machine) stop(e workflow.Error) {
	j := &m.run.Details
	named := func(s workflow.NextStep) bool {
		return s.Has(func(s workflow.NextStep) bool { return s.Verb == workflow.VerbStop && s.Cancel })
	}
	stuck := !j.Canceling && j.MergeCommit == "" && e.ReasonCode != workflow.ApprovalRequired && e.ReasonCode != workflow.PreparedCode
	if stuck && !slices.ContainsFunc(e.Next, named) {
		e.Next = append(slices.Clip(e.Next), m.run.GiveUp("or give it up; its work stays on a ref"))
	}
	m.halt(workflow.NeedsInput, workflow.StepNeedsInput, e)
}

// fail ends the run in FAILED. A retried run begins with the given action or, if it is empty, opens its phase again.
func (m *machine) fail(e workflow.Error, first workflow.Action) {
	e.Retryable = true
	e.Next = []workflow.NextStep{m.run.Ask("see what happened", workflow.VerbLogs), m.run.Ask("try again", workflow.VerbRetry)}
	m.run.Details.Pending = nil
	if first.Kind != "" {
		m.order(first)
	}
	m.halt(workflow.Failed, workflow.StepFailed, e)
}

// halt ends the run with an error, and with it the step and the phase that were running.
func (m *machine) halt(state workflow.State, step workflow.StepStatus, e workflow.Error) {
	m.end(state)
	m.run.Error = &e
	m.say("%s", e.Title)
	if s := m.currentStep(); s != nil && s.Status == workflow.StepRunning {
		s.Status, s.EndedAt, s.Error = step, &m.now, &e
	}
	if record := &m.run.Details.Phases[m.run.Details.Phase]; record.Status == workflow.StepRunning || record.Status == workflow.StepPending {
		record.Status, record.EndedAt = step, &m.now
	}
}

// block stops the run for one of the published reasons.
func (m *machine) block(reason workflow.BlockedReason, category workflow.Category, code, description string, suggestion workflow.NextStep) {
	r := &m.run
	r.Details.Blocked = &workflow.Blocked{Reason: reason, Description: description, BlockedAt: m.now,
		Next: &suggestion, Context: map[string]any{}}
	stop := m.problem(category, code, blockedTitles[reason], description)
	stop.Severity = workflow.Blocker
	stop.Next = []workflow.NextStep{suggestion, r.ThenResume()}
	m.stop(stop)
}

var blockedTitles = map[workflow.BlockedReason]string{
	workflow.DesignAmbiguity:     "the request can be read in more than one way",
	workflow.ReviewLoopExceeded:  "the review keeps finding something",
	workflow.DependencyMissing:   "another request must be merged first",
	workflow.ExternalBlocker:     "something outside the project is in the way",
	workflow.ResourceLimit:       "this machine has run out of something",
	workflow.CIPersistentFailure: "the checks keep failing",
}

// stoppedByPerson returns the stop that says what the run was doing.
func (m *machine) stoppedByPerson() workflow.Error {
	r := &m.run
	doing := r.Details.Phase.Position().Doing
	if r.Details.SettingUp {
		doing = "setting up the environment"
	}
	stop := m.problem(workflow.CategoryInput, workflow.StopRequestedCode, "stopped by a person", "stopped while "+doing)
	stop.Severity = workflow.Minor
	stop.Next = []workflow.NextStep{r.Ask("go on", workflow.VerbResume)}
	return stop
}

// actionBackoff is the first wait before an action is repeated; it doubles up to maxBackoff.
const (
	actionBackoff = 5 * time.Second
	maxBackoff    = 10 * time.Minute
)

// actionFailed repeats an action whose failure may pass, and stops for any other. What was ordered after it stays pending.
func (m *machine) actionFailed(e workflow.ActionFailed) {
	r, j := &m.run, &m.run.Details
	rest := j.Pending
	j.Pending = nil
	defer func() { j.Pending = append(j.Pending, rest...) }()
	if e.Error.Retryable && j.Used.ActionRetries < j.Settings.Limits.ActionRetries {
		wait := max(e.RetryAfter, min(actionBackoff<<j.Used.ActionRetries, maxBackoff))
		j.Used.ActionRetries++
		r.Counters.Retries++
		m.waitThenAgain(wait, e.Error.Title+"; again in "+wait.String())
		return
	}
	m.order(m.answered)
	if reason, ok := workflow.BlockingCodes[e.Error.ReasonCode]; ok {
		suggestion := workflow.Advice("fix it")
		if len(e.Error.Next) > 0 {
			suggestion = e.Error.Next[0]
		}
		m.block(reason, e.Error.Category, e.Error.ReasonCode, e.Error.Message, suggestion)
		return
	}
	stop := e.Error
	if len(stop.Next) == 0 {
		stop.Next = m.problem("", "", "", "").Next
	}
	if stop.Severity == "" {
		stop.Severity = workflow.Major
	}
	m.stop(stop)
}

// waitThenAgain repeats the action that just failed after a wait.
func (m *machine) waitThenAgain(wait time.Duration, why string) {
	until := m.now.Add(wait)
	m.say("%s", why)
	m.order(workflow.Action{Kind: workflow.Wait, Until: &until})
	m.order(m.answered)
}

func retrying(wait time.Duration, whom string, n, of int) string {
	return fmt.Sprintf("waiting %s for %s, retry %d of %d", wait, whom, n, of)
}
