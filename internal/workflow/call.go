package workflow

import (
	"fmt"
	"maps"
	"slices"
)

// Call is what a call of an agent has come to so far, beside its answer.
type Call struct {
	// Agent is the name under which the configuration knows it.
	Agent string `json:"agent,omitempty"`
	// Program is its program's name for people ("Claude Code"), Model the model that did the work.
	// Each is empty where it is not known.
	Program string `json:"program,omitempty"`
	Model   string `json:"model,omitempty"`
	Usage   Usage  `json:"usage,omitzero"`
	// Reserved is what the requests on their way to the model may yet use. A call that is cut off counts
	// it, because the vendor may bill what nobody received.
	Reserved Usage `json:"reserved,omitzero"`
	// Conversation is the agent's own memory of it, nil if it keeps none.
	Conversation *Conversation `json:"conversation,omitempty"`
	// Denied are the tools that the agent was not allowed to use.
	Denied  []string `json:"denied,omitempty"`
	Unknown Unknown  `json:",embed"`
}

// Conversation is what a later call of the same role can go on with.
type Conversation struct {
	Agent string `json:"agent"`
	// ID is the agent's own. Counted is what it had counted in all, for those that count on.
	ID      string  `json:"id"`
	Counted Usage   `json:"counted,omitzero"`
	Unknown Unknown `json:",embed"`
}

// Usage is what agents used, as far as they say. Money is millionths of a US dollar, so that sums are exact.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostMicroUSD int64   `json:"cost_micro_usd"`
	Unknown      Unknown `json:",embed"`
}

// Tokens are all that went in and came out.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// String is usage for people: "12345 tokens, $1.20"; empty if nothing is known to have been used.
func (u Usage) String() string {
	switch {
	case u.Tokens() == 0 && u.CostMicroUSD == 0:
		return ""
	case u.CostMicroUSD == 0:
		return fmt.Sprintf("%d tokens", u.Tokens())
	}
	return fmt.Sprintf("%d tokens, %s", u.Tokens(), dollars(u.CostMicroUSD))
}

// SpentSoFar is what all calls used, the one in hand included.
func (r *Run) SpentSoFar() Usage {
	spent := r.Journey.Spent
	if c := r.Journey.Calling; c != nil {
		spent = spent.plus(c.Usage)
	}
	return spent
}

func (u Usage) plus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens, CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD, Unknown: u.Unknown}
}

// call orders a call of an agent and counts it.
func (m *machine) call(a Action) {
	a.Kind = CallAgent
	if ceiling := m.run.overspent(); ceiling != "" {
		m.order(a)
		m.stopOverspent(ceiling)
		return
	}
	if n := m.count(a.Role); a.Role != Implementer { // whose attempts are the step's
		a.Attempt = n
	}
	m.order(a)
}

// count adds a call of the role to the counters and returns how many there were.
func (m *machine) count(role Role) int {
	n := &m.run.Counters.ImplementerCalls
	switch role {
	case Planner:
		n = &m.run.Counters.PlannerCalls
	case Reviewer:
		n = &m.run.Counters.QACalls
	case Repairer: // R7 has no word for them
		n = &m.run.Journey.RepairCalls
	}
	*n++
	return *n
}

// callAgain calls the agent that just answered once more, as its next attempt.
func (m *machine) callAgain(reason string) {
	a := m.answered
	a.Reason = reason
	if a.Role == Implementer {
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
	m.run.Journey.MendAttempt++
	return m.run.Journey.MendAttempt
}

// reported notes down what the call in hand has come to so far: a crash loses neither its
// conversation nor its cost.
func (m *machine) reported(e AgentReported) bool {
	j := &m.run.Journey
	if m.run.State != Running || len(j.Pending) == 0 || j.Pending[0].Key != e.Key {
		return false
	}
	j.Calling = &e.Call
	return true
}

// workFound notes down where work went that somebody may be missing.
func (m *machine) workFound(e WorkFound) bool {
	j := &m.run.Journey
	if m.run.State != Running || slices.Contains(j.Aside, e.Ref) {
		return false
	}
	j.Aside = append(j.Aside, e.Ref)
	return true
}

// account books what a role's call came to that ended, or was cut off.
func (m *machine) account(role Role, call *Call) {
	j := &m.run.Journey
	j.Calling, j.Denied = nil, call.Denied
	m.spend(call.Usage.plus(call.Reserved), 1)
	m.credit(role, call)
	if call.Conversation != nil {
		m.remember(role, call.Conversation)
	}
}

// Assistant is an agent that took part in the run, for whoever writes down whose work a change is.
type Assistant struct {
	Role Role `json:"role"`
	// Agent is the configuration's name of it; Program and Model are as in Call.
	Agent   string  `json:"agent"`
	Program string  `json:"program,omitempty"`
	Model   string  `json:"model,omitempty"`
	Unknown Unknown `json:",embed"`
}

// maxAssistants is more than a run has use for; a server that makes up names gets no more.
const maxAssistants = 50

// credit notes down who took part, in the order of their first calls.
func (m *machine) credit(role Role, call *Call) {
	j := &m.run.Journey
	a := Assistant{Role: role, Agent: call.Agent, Program: call.Program, Model: call.Model}
	same := func(b Assistant) bool {
		return a.Role == b.Role && a.Agent == b.Agent && a.Program == b.Program && a.Model == b.Model
	}
	if call.Agent != "" && len(j.Assistants) < maxAssistants && !slices.ContainsFunc(j.Assistants, same) {
		j.Assistants = append(slices.Clone(j.Assistants), a)
	}
}

// remember keeps a role's conversation for its next call.
func (m *machine) remember(role Role, c *Conversation) {
	conversations := maps.Clone(m.run.Journey.Conversations)
	if conversations == nil {
		conversations = map[Role]Conversation{}
	}
	conversations[role] = *c
	m.run.Journey.Conversations = conversations
}

// forget lets the role's next call begin a conversation.
func (m *machine) forget(role Role) {
	m.run.Journey.Conversations = maps.Clone(m.run.Journey.Conversations)
	delete(m.run.Journey.Conversations, role)
}

// dollars is money for people.
func dollars(microUSD int64) string {
	if microUSD < 1e6 {
		return fmt.Sprintf("$%.4f", float64(microUSD)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(microUSD)/1e6)
}

// overspent says which ceiling the run has reached; empty if none.
func (r *Run) overspent() string { return r.Overspends(r.ceiling()) }

// Overspends is overspent with a ceiling of another time.
func (r *Run) Overspends(ceiling Spending) string { return r.granted().Reaches(ceiling, "limits") }

// granted is what was used since a person last granted the ceilings.
func (r *Run) granted() Spending {
	u := r.Journey.Used
	return Spending{u.Tokens, u.CostMicroUSD, u.Calls}
}

func (r *Run) ceiling() Spending {
	l := r.Journey.Settings.Limits
	return Spending{l.Tokens, l.CostMicroUSD, l.Calls}
}

// CallCeiling is what the next call of an agent may use.
func (r *Run) CallCeiling() Spending { return r.granted().Left(r.ceiling()) }
