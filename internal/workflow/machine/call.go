package machine

import (
	"maps"
	"slices"

	"signalbox/internal/workflow"
)

// call orders a call of an agent and counts it.
func (m *machine) call(a workflow.Action) {
	a.Kind = workflow.CallAgent
	if budget := m.run.Overspent(); budget != "" {
		m.order(a)
		m.stopOverspent(budget)
		return
	}
	if n := m.count(a.Role); a.Role != workflow.Implementer { // whose attempts are the step's
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
	case workflow.Repairer: // R7 has no word for them
		n = &m.run.Details.RepairCalls
	}
	*n++
	return *n
}

// callAgain calls the agent that just answered once more, as its next attempt.
func (m *machine) callAgain(reason string) {
	a := m.answered
	a.Reason = reason
	if a.Role == workflow.Implementer {
		a.Attempt = m.nextAttempt()
	}
	m.call(a)
}

// nextAttempt numbers one more call for the change in hand.
func (m *machine) nextAttempt() int {
	if step := m.currentStep(); step != nil {
		step.Attempt++
		return step.Attempt
	}
	m.run.Details.FixAttempt++
	return m.run.Details.FixAttempt
}

// reported notes down what the call in hand has come to so far: a crash loses neither its
// conversation nor its cost.
func (m *machine) reported(e workflow.AgentReported) bool {
	j := &m.run.Details
	if m.run.State != workflow.Running || len(j.Pending) == 0 || j.Pending[0].Key != e.Key {
		return false
	}
	j.Calling = &e.Call
	return true
}

// workFound notes down where work went that somebody may be missing.
func (m *machine) workFound(e workflow.WorkFound) bool {
	j := &m.run.Details
	if m.run.State != workflow.Running || slices.Contains(j.SavedWork, e.Ref) {
		return false
	}
	j.SavedWork = append(j.SavedWork, e.Ref)
	return true
}

// account books what a role's call came to that ended, or was cut off.
func (m *machine) account(role workflow.Role, call *workflow.Call) {
	j := &m.run.Details
	j.Calling, j.Denied = nil, call.Denied
	m.spend(call.Usage.Plus(call.Reserved), 1)
	a := workflow.Assistant{Role: role, Agent: call.Agent, Program: call.Program, Model: call.Model}
	same := func(b workflow.Assistant) bool {
		return a.Role == b.Role && a.Agent == b.Agent && a.Program == b.Program && a.Model == b.Model
	}
	if call.Agent != "" && len(j.Assistants) < maxAssistants && !slices.ContainsFunc(j.Assistants, same) {
		j.Assistants = append(slices.Clone(j.Assistants), a) // in the order of their first calls
	}
	if call.Conversation != nil { // the role's next call goes on with it
		conversations := maps.Clone(j.Conversations)
		if conversations == nil {
			conversations = map[workflow.Role]workflow.Conversation{}
		}
		conversations[role] = *call.Conversation
		j.Conversations = conversations
	}
}

// maxAssistants is more than a run has use for; a server that makes up names gets no more.
const maxAssistants = 50

// forget lets the role's next call begin a conversation.
func (m *machine) forget(role workflow.Role) {
	m.run.Details.Conversations = maps.Clone(m.run.Details.Conversations)
	delete(m.run.Details.Conversations, role)
}
