package machine

import (
	"fmt"
	"strings"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// modelWaits are the waits before an agent whose model does not answer is called again.
var modelWaits = []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// agentFailed starts a crashed or hung agent again until the budget is used up.
func (m *machine) agentFailed(e workflow.AgentFailed) {
	r, used := &m.run, &m.run.Details.Used
	r.Details.Failure = e.Message
	if step := m.currentStep(); step != nil {
		step.Logs = appendNew(step.Logs, paths(e.LogPath)...)
	}
	stop := m.problem(workflow.CategoryExecution, e.Code, workflow.AgentTitle(m.answered.Role, e.Code), e.Message)
	stop.RelatedPaths = paths(e.LogPath)
	if m.answered.Role == workflow.Repairer && (e.Code == workflow.AgentUnavailableCode || used.AgentRetries >= r.Details.Settings.Limits.AgentRetries) {
		m.setUpFailed(r.Details.SetUp.LastError())
		return
	}
	if budget := r.Overspent(); budget != "" {
		m.order(m.answered)
		m.stopOverspent(budget)
		return
	}
	switch e.Code {
	case workflow.AgentUnavailableCode, workflow.AgentUnauthorizedCode, workflow.AgentRequestRefusedCode, workflow.AgentNoRouteCode:
		stop.Category = workflow.CategoryEnvironment
		stop.Next = []workflow.NextStep{workflow.SeeDoctor, r.ThenResume()}
		if e.Code == workflow.AgentUnauthorizedCode {
			stop.Next[0] = workflow.NextStep{Text: "see which key or login is used", Verb: workflow.VerbDoctor}.Following(workflow.Advice("and fix it"))
		}
		m.order(m.answered)
		m.stop(stop)
		return
	case workflow.AgentRateLimitedCode, workflow.AgentUsageLimitedCode, workflow.AgentDaySpentCode:
		m.park(e)
		return
	case workflow.AgentOverspentCode:
		m.order(m.answered)
		m.stopOverspent(e.Message)
		return
	case workflow.AgentUnreachableCode, workflow.AgentModelFailedCode:
		if used.ModelWaits < len(modelWaits) {
			wait := modelWaits[used.ModelWaits]
			used.ModelWaits++
			r.Counters.Retries++
			m.waitThenAgain(wait, retrying(wait, "the model", used.ModelWaits, len(modelWaits))+": "+wording.FirstLine(e.Message))
			return
		}
	case workflow.AgentContextOverflowCode, workflow.AgentConversationLostCode:
		m.forget(m.answered.Role)
	}
	if limit := r.Details.Settings.Limits.AgentRetries; used.AgentRetries < limit {
		used.AgentRetries++
		r.Counters.Retries++
		m.call(m.again())
		m.say("%s and is called again, retry %d of %d: %s", stop.Title, used.AgentRetries, limit, wording.FirstLine(e.Message))
		return
	}
	again := m.again()
	m.fail(stop, again)
	if again.Role != workflow.Implementer && e.Code == workflow.AgentNoAnswerCode { // a script that only changes files never has one
		r.Error.Next = append(r.Error.Next, doWithout(r, again.Role, workflow.VerbRetry))
	}
}

// answerRefused asks the same role again and says what was wrong, until the budget for that is used up.
func (m *machine) answerRefused(e workflow.AnswerRefused) {
	r, used := &m.run, &m.run.Details.Used
	problems := strings.Join(e.Problems, "\n")
	if used.ContractRetries < r.Details.Settings.Limits.ContractRetries {
		used.ContractRetries++
		r.Counters.Retries++
		again := m.again()
		again.Reason = problems
		m.call(again)
		return
	}
	if m.answered.Role == workflow.Repairer {
		m.setUpFailed("the answer to the repair request could not be used: " + problems)
		return
	}
	stop := m.problem(workflow.CategoryContract, workflow.ContractBrokenCode, "the "+string(m.answered.Role)+"'s answer cannot be used", problems)
	stop.RelatedPaths = paths(e.LogPath)
	stop.Next = []workflow.NextStep{r.Ask("read its answer", workflow.VerbLogs), r.Ask("then let it try again", workflow.VerbResume)}
	if m.answered.Role != workflow.Implementer {
		stop.Next = append(stop.Next, doWithout(r, m.answered.Role, workflow.VerbResume))
	}
	m.stop(stop)
}

// If the provider doesn't say when a limit ends, the run is parked for parkedFirst, and for twice as long each time. A
// limit that is said to end after parkedLongest is checked again then.
const (
	parkedFirst   = time.Minute
	parkedLongest = 24 * time.Hour
)

// park queues the run without its slot until the model is available again. It costs no attempt.
func (m *machine) park(e workflow.AgentFailed) {
	j := &m.run.Details
	wait := min(parkedFirst<<min(j.Used.Parks, 6), time.Hour)
	if !e.Until.IsZero() {
		// The growing minimum is for a provider whose times are wrong: it would be asked again without end.
		wait = max(e.Until.Sub(m.now), min(time.Second<<min(j.Used.Parks, 12), time.Hour))
	}
	until := m.now.Add(min(wait, parkedLongest))
	j.Used.Parks++
	j.ParkedUntil = &until
	m.order(m.answered)
	m.run.State = workflow.Queued
	m.say("parked until %s: %s", until.Format("2006-01-02 15:04:05 MST"), e.Message)
}

func (m *machine) stopOverspent(budget string) {
	stop := m.problem(workflow.CategoryExecution, workflow.AgentOverspentCode, "the agents have used what the run may use", budget)
	stop.Next = []workflow.NextStep{m.run.Ask("grant as much again, or more after raising limits", workflow.VerbResume)}
	m.stop(stop)
}

// doWithout returns the step of a person about a role that its agent cannot do. A command that only changes files does none of these roles.
func doWithout(r *workflow.Run, role workflow.Role, then workflow.Verb) workflow.NextStep {
	return workflow.Advice(fmt.Sprintf("or do without a %s: write roles: {planner: none, reviewer: none, repairer: none} in .signalbox/config.yaml, or as many of them as have no answer", role)).
		Following(r.Ask("then", then))
}
