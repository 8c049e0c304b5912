package workflow

import (
	"fmt"
	"slices"
	"time"
)

// modelWaits are the waits before an agent is called again whose model does not answer.
var modelWaits = []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// agentFailed starts a crashed or hung agent again until the budget is used up.
func (m *machine) agentFailed(e AgentFailed) {
	r, used := &m.run, &m.run.Journey.Used
	r.Journey.Failure = e.Message
	if step := m.currentStep(); step != nil {
		step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	}
	stop := m.problem(CategoryExecution, e.Code, AgentTitle(m.answered.Role, e.Code), e.Message)
	stop.RelatedPaths = paths(e.LogPath)
	if m.answered.Role == Repairer && (e.Code == "AGENT_UNAVAILABLE" || used.AgentRetries >= r.Journey.Settings.Limits.AgentRetries) {
		m.setUpFailed(r.Journey.SetUp.lastError())
		return
	}
	if ceiling := r.overspent(); ceiling != "" {
		m.order(m.answered)
		m.stopOverspent(ceiling)
		return
	}
	switch e.Code {
	case "AGENT_UNAVAILABLE", "AGENT_UNAUTHORIZED", "AGENT_REQUEST_REFUSED", "AGENT_NO_ROUTE":
		stop.Category = CategoryEnvironment
		stop.Actions = []string{"see what is missing: signalbox doctor", "then: signalbox resume " + r.Ref()}
		if e.Code == "AGENT_UNAUTHORIZED" {
			stop.Actions[0] = "see which key or login is used: signalbox doctor; and mend it"
		}
		m.order(m.answered)
		m.stop(stop)
		return
	case "AGENT_RATE_LIMITED", "AGENT_USAGE_LIMITED", "AGENT_DAY_SPENT":
		m.park(e)
		return
	case "AGENT_OVERSPENT":
		m.order(m.answered)
		m.stopOverspent(e.Message)
		return
	case "AGENT_UNREACHABLE", "AGENT_MODEL_FAILED":
		if used.ModelWaits < len(modelWaits) {
			wait := modelWaits[used.ModelWaits]
			used.ModelWaits++
			r.Counters.Retries++
			m.waitThenAgain(wait, again(wait, "the model", used.ModelWaits, len(modelWaits))+": "+firstLine(e.Message))
			return
		}
	case "AGENT_CONTEXT_OVERFLOW", "AGENT_CONVERSATION_LOST":
		m.forget(m.answered.Role)
	}
	if limit := r.Journey.Settings.Limits.AgentRetries; used.AgentRetries < limit {
		used.AgentRetries++
		r.Counters.Retries++
		m.callAgain(m.answered.Reason)
		m.say("%s and is called again, retry %d of %d: %s", stop.Title, used.AgentRetries, limit, firstLine(e.Message))
		return
	}
	again := m.answered
	if again.Role == Implementer {
		again.Attempt = m.nextAttempt()
	}
	m.fail(stop, again)
	if again.Role != Implementer && e.Code == "AGENT_NO_ANSWER" { // a script that only changes files never has one
		r.Error.Actions = append(r.Error.Actions, r.doWithout(again.Role))
	}
}

// Unusable reports whether the run stopped because its agent cannot be used as it is installed and
// configured: no attempt at the task was made, and only a person mends it.
func (e *Error) Unusable() bool {
	return slices.Contains([]string{"AGENT_UNAVAILABLE", "AGENT_UNAUTHORIZED", "AGENT_REQUEST_REFUSED", "AGENT_NO_ROUTE"}, e.ReasonCode)
}

// AgentTitle says in one line that a role's agent failed, and how.
func AgentTitle(role Role, code string) string {
	what := map[string]string{"AGENT_HUNG": "printed nothing for too long", "AGENT_TIMED_OUT": "took too long",
		"AGENT_UNAVAILABLE": "cannot be started", "AGENT_OUT_OF_MEMORY": "ran out of memory",
		"AGENT_NO_ANSWER": "ended without an answer", "AGENT_UNAUTHORIZED": "was not let in by its model's server",
		"AGENT_REQUEST_REFUSED": "was refused by its model's server", "AGENT_UNREACHABLE": "could not reach its model", "AGENT_NO_ROUTE": "cannot reach its model as this machine is set up",
		"AGENT_MODEL_FAILED": "met a failing model", "AGENT_CONTEXT_OVERFLOW": "said more than its model can hold"}[code]
	return fmt.Sprintf("the %s %s", role, firstOf(what, "failed"))
}

// Where nobody says when a limit ends, a run is parked so long, and each time twice as long; a
// limit that is said to end later than parkedLongest is asked about again then.
const (
	parkedFirst   = time.Minute
	parkedLongest = 24 * time.Hour
)

// park lets the run wait, without its slot, until the model is to be had again. It costs no attempt.
func (m *machine) park(e AgentFailed) {
	j := &m.run.Journey
	wait := min(parkedFirst<<min(j.Used.Parks, 6), time.Hour)
	if !e.Until.IsZero() {
		wait = max(e.Until.Sub(m.now), min(time.Second<<min(j.Used.Parks, 12), time.Hour)) // else one that lies is asked for ever
	}
	until := m.now.Add(min(wait, parkedLongest))
	j.Used.Parks++
	j.ParkedUntil = &until
	m.order(m.answered)
	m.run.State = Queued
	m.say("parked until %s: %s", until.Format("2006-01-02 15:04:05 MST"), e.Message)
}

// refusedForTheDay: of what the day's ceiling kept from being begun there is no call to book.
func refusedForTheDay(e Event) bool {
	failed, ok := e.(AgentFailed)
	return ok && failed.Code == "AGENT_DAY_SPENT"
}

func (m *machine) stopOverspent(ceiling string) {
	stop := m.problem(CategoryExecution, "AGENT_OVERSPENT", "the agents have used what the run may use", ceiling)
	stop.Actions = []string{"grant as much again, or more after raising limits: signalbox resume " + m.run.Ref()}
	m.stop(stop)
}
