package workflow

import (
	"cmp"
	"fmt"
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
	spent := r.Details.Spent
	if c := r.Details.Calling; c != nil {
		spent = spent.Plus(c.Usage)
	}
	return spent
}

func (u Usage) Plus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens, CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD, Unknown: u.Unknown}
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

// dollars is money for people.
func dollars(microUSD int64) string {
	if microUSD < 1e6 {
		return fmt.Sprintf("$%.4f", float64(microUSD)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(microUSD)/1e6)
}

// Overspent says which budget the run has reached; empty if none.
func (r *Run) Overspent() string { return r.Overspends(r.budget()) }

// Overspends is overspent with a budget of another time.
func (r *Run) Overspends(budget Spending) string { return r.granted().Reaches(budget, "limits") }

// granted is what was used since a person last granted the budgets.
func (r *Run) granted() Spending {
	u := r.Details.Used
	return Spending{u.Tokens, u.CostMicroUSD, u.Calls}
}

func (r *Run) budget() Spending {
	l := r.Details.Settings.Limits
	return Spending{l.Tokens, l.CostMicroUSD, l.Calls}
}

// CallBudget is what the next call of an agent may use.
func (r *Run) CallBudget() Spending { return r.granted().Left(r.budget()) }

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
	return fmt.Sprintf("the %s %s", role, cmp.Or(what, "failed"))
}
