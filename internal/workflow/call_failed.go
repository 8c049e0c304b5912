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
	if m.answered.Role == Repairer && (e.Code == AgentUnavailableCode || used.AgentRetries >= r.Journey.Settings.Limits.AgentRetries) {
		m.setUpFailed(r.Journey.SetUp.lastError())
		return
	}
	if ceiling := r.overspent(); ceiling != "" {
		m.order(m.answered)
		m.stopOverspent(ceiling)
		return
	}
	switch e.Code {
	case AgentUnavailableCode, AgentUnauthorizedCode, AgentRequestRefusedCode, AgentNoRouteCode:
		stop.Category = CategoryEnvironment
		stop.Next = []NextStep{SeeDoctor, r.ThenResume()}
		if e.Code == AgentUnauthorizedCode {
			stop.Next[0] = NextStep{Text: "see which key or login is used", Verb: VerbDoctor}.Following(Advice("and mend it"))
		}
		m.order(m.answered)
		m.stop(stop)
		return
	case AgentRateLimitedCode, AgentUsageLimitedCode, AgentDaySpentCode:
		m.park(e)
		return
	case AgentOverspentCode:
		m.order(m.answered)
		m.stopOverspent(e.Message)
		return
	case AgentUnreachableCode, AgentModelFailedCode:
		if used.ModelWaits < len(modelWaits) {
			wait := modelWaits[used.ModelWaits]
			used.ModelWaits++
			r.Counters.Retries++
			m.waitThenAgain(wait, again(wait, "the model", used.ModelWaits, len(modelWaits))+": "+firstLine(e.Message))
			return
		}
	case AgentContextOverflowCode, AgentConversationLostCode:
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
	if again.Role != Implementer && e.Code == AgentNoAnswerCode { // a script that only changes files never has one
		r.Error.Next = append(r.Error.Next, r.doWithout(again.Role))
	}
}

// Unusable reports whether the run stopped because its agent cannot be used as it is installed and
// configured: no attempt at the task was made, and only a person mends it.
func (e *Error) Unusable() bool {
	return slices.Contains([]string{AgentUnavailableCode, AgentUnauthorizedCode, AgentRequestRefusedCode, AgentNoRouteCode}, e.ReasonCode)
}

// AgentTitle says in one line that a role's agent failed, and how.
func AgentTitle(role Role, code string) string {
	what := map[string]string{AgentHungCode: "printed nothing for too long", AgentTimedOutCode: "took too long",
		AgentUnavailableCode: "cannot be started", AgentOutOfMemoryCode: "ran out of memory",
		AgentNoAnswerCode: "ended without an answer", AgentUnauthorizedCode: "was not let in by its model's server",
		AgentRequestRefusedCode: "was refused by its model's server", AgentUnreachableCode: "could not reach its model", AgentNoRouteCode: "cannot reach its model as this machine is set up",
		AgentModelFailedCode: "met a failing model", AgentContextOverflowCode: "said more than its model can hold"}[code]
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
	return ok && failed.Code == AgentDaySpentCode
}

func (m *machine) stopOverspent(ceiling string) {
	stop := m.problem(CategoryExecution, AgentOverspentCode, "the agents have used what the run may use", ceiling)
	stop.Next = []NextStep{m.run.Ask("grant as much again, or more after raising limits", VerbResume)}
	m.stop(stop)
}
