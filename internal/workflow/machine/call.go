package machine

import (
	"maps"
	"slices"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// call orders a call of an agent and counts it. If the run has reached a budget, it stops first.
func (m *machine) call(a workflow.Action) {
	a.Kind = workflow.CallAgent
	if budget := m.run.Overspent(); budget != "" {
		m.order(a)
		m.stopOverspent(budget)
		return
	}
	if n := m.count(a.Role); a.Role != workflow.Implementer { // the implementer's attempts are those of its step or fix
		a.Attempt = n
	}
	m.order(a)
}

// count adds a call of the role to the counters and returns how many there were.
func (m *machine) count(role workflow.Role) int {
	n := &m.run.Counters.ImplementerCalls
	switch role {
	case workflow.Planner:
		n = &m.run.Counters.PlannerCalls
	case workflow.Reviewer:
		n = &m.run.Counters.QACalls
	case workflow.Repairer: // the published counters have none for it
		n = &m.run.Details.RepairCalls
	}
	*n++
	return *n
}

// again returns the call that just ended as the next attempt of its step or fix.
func (m *machine) again() workflow.Action {
	a := m.answered
	if a.Role != workflow.Implementer {
		return a
	}
	if step := m.currentStep(); step != nil {
		step.Attempt++
		a.Attempt = step.Attempt
	} else {
		m.run.Details.FixAttempt++
		a.Attempt = m.run.Details.FixAttempt
	}
	return a
}

// account books a call of the role that ended or was cut off.
func (m *machine) account(role workflow.Role, call *workflow.Call) {
	j := &m.run.Details
	j.Calling, j.Denied = nil, call.Denied
	used := call.Usage.Plus(call.Reserved)
	m.spend(used, 1)
	a := workflow.Assistant{Role: role, Agent: call.Agent, Program: call.Program, Model: call.Model}
	same := func(b workflow.Assistant) bool {
		return a.Role == b.Role && a.Agent == b.Agent && a.Program == b.Program && a.Model == b.Model
	}
	j.Assistants = slices.Clone(j.Assistants)
	at := slices.IndexFunc(j.Assistants, same)
	if at < 0 && call.Agent != "" && len(j.Assistants) < maxAssistants {
		at, j.Assistants = len(j.Assistants), append(j.Assistants, a) // in the order of their first calls
	}
	if at >= 0 {
		by := &j.Assistants[at]
		by.Usage, by.Calls = by.Usage.Plus(used), by.Calls+1
	}
	if call.Conversation != nil { // the role's next call resumes it
		conversations := maps.Clone(j.Conversations)
		if conversations == nil {
			conversations = map[workflow.Role]workflow.Conversation{}
		}
		conversations[role] = *call.Conversation
		j.Conversations = conversations
	}
}

// maxAssistants is more than a run needs; a server that invents model names can't fill the document.
const maxAssistants = 50

// forget makes the role's next call begin a new conversation.
func (m *machine) forget(role workflow.Role) {
	m.run.Details.Conversations = maps.Clone(m.run.Details.Conversations)
	delete(m.run.Details.Conversations, role)
}

// spend books usage on today's date. A session's usage is booked while it works, so that it counts for the day's other runs at once, and a
// crash loses only the part that was not reported yet.
func (m *machine) spend(u workflow.Usage, calls int) {
	j := &m.run.Details
	days, date := slices.Clone(j.Days), budget.DateOf(m.now)
	if n := len(days); n == 0 || days[n-1].Date != date {
		days = append(days, workflow.Day{Date: date})
	}
	today := &days[len(days)-1]
	today.Usage, today.Calls = today.Usage.Plus(u), today.Calls+calls
	j.Days = days
	j.Spent = j.Spent.Plus(u)
	j.Used.Calls += calls
	j.Used.Tokens += u.Tokens()
	j.Used.CostMicroUSD += u.CostMicroUSD
}

// limitSpending sets what the run's agents may use; nil leaves it as it is.
func (m *machine) limitSpending(budget *budget.Amount) {
	if budget != nil {
		l := &m.run.Details.Settings.Limits
		l.Tokens, l.CostMicroUSD, l.Calls = budget.Tokens, budget.CostMicroUSD, budget.Calls
	}
}
