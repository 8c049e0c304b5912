package workflow

import (
	"cmp"
	"fmt"
	"slices"

	"signalbox/internal/workflow/budget"
)

// Call is what a call of an agent has used and left so far, beside its answer.
type Call struct {
	// Agent is the agent's name in the configuration.
	Agent string `json:"agent,omitempty"`
	// Program is the name of its program for people ("Claude Code"), Model the model that did the work. Each is empty if it is not known.
	Program string `json:"program,omitempty"`
	Model   string `json:"model,omitempty"`
	Usage   Usage  `json:"usage,omitzero"`
	// Reserved is what requests on their way to the model may still use. A call that is cut off counts it, because the provider may bill an answer
	// that never arrived.
	Reserved Usage `json:"reserved,omitzero"`
	// Conversation is what a later call can resume; null if the agent keeps none.
	Conversation *Conversation `json:"conversation,omitempty"`
	// Denied are the tools that the agent was not allowed to use.
	Denied  []string `json:"denied,omitempty"`
	Unknown Unknown  `json:",embed"`
}

// Conversation is an agent's own memory of a call, which a later call of the same role can resume.
type Conversation struct {
	Agent string `json:"agent"`
	// ID is the agent's own. Counted is the usage that the agent had counted by then, for agents that report sums over the whole conversation.
	ID      string  `json:"id"`
	Counted Usage   `json:"counted,omitzero"`
	Unknown Unknown `json:",embed"`
}

// Usage is what agents used, as far as they report it. Money is millionths of a US dollar, so that sums are exact.
type Usage struct {
	// InputTokens includes CachedTokens, which the provider read from its cache.
	InputTokens  int64   `json:"input_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostMicroUSD int64   `json:"cost_micro_usd"`
	Unknown      Unknown `json:",embed"`
}

// Tokens returns the number of tokens that went in and came out.
func (u Usage) Tokens() int64 { return u.InputTokens + u.OutputTokens }

// String returns the usage for people: "12345 tokens, $1.20"; empty if none is known.
func (u Usage) String() string {
	switch {
	case u.Tokens() == 0 && u.CostMicroUSD == 0:
		return ""
	case u.CostMicroUSD == 0:
		return fmt.Sprintf("%d tokens", u.Tokens())
	}
	return fmt.Sprintf("%d tokens, %s", u.Tokens(), budget.Dollars(u.CostMicroUSD))
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens, CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD, Unknown: u.Unknown}
}

// Minus returns what is left of u without v.
func (u Usage) Minus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens - v.InputTokens, CachedTokens: u.CachedTokens - v.CachedTokens,
		OutputTokens: u.OutputTokens - v.OutputTokens, CostMicroUSD: u.CostMicroUSD - v.CostMicroUSD, Unknown: u.Unknown}
}

// Assistant is an agent that took part in the run. Commits and pull requests name it as the author's helper.
type Assistant struct {
	Role Role `json:"role"`
	// Agent is its name in the configuration; Program and Model are as in Call.
	Agent   string `json:"agent"`
	Program string `json:"program,omitempty"`
	Model   string `json:"model,omitempty"`
	// Usage and Calls are its part of the run's. Documents of before have none.
	Usage   Usage   `json:"usage,omitzero"`
	Calls   int     `json:"calls,omitempty"`
	Unknown Unknown `json:",embed"`
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

// Unusable reports whether the run stopped because its agent cannot be used as it is installed and configured: the task was not attempted, and only
// a person can fix that.
func (e *Error) Unusable() bool {
	return slices.Contains([]string{AgentUnavailableCode, AgentUnauthorizedCode, AgentRequestRefusedCode, AgentNoRouteCode}, e.ReasonCode)
}

// Day is what the run's agents used on one day.
type Day struct {
	// Date is YYYY-MM-DD in UTC.
	Date    string  `json:"date"`
	Usage   Usage   `json:"usage"`
	Calls   int     `json:"calls"`
	Unknown Unknown `json:",embed"`
}

// SpentSoFar returns what all calls of the run used, including the call in hand.
func (r *Run) SpentSoFar() Usage {
	spent := r.Details.Spent
	if c := r.Details.Calling; c != nil {
		spent = spent.Plus(c.Usage)
	}
	return spent
}

// SpentOn returns what the run's agents used on a date, including the call in hand.
func (r *Run) SpentOn(date string) budget.Amount {
	var s budget.Amount
	for _, day := range r.Details.Days {
		if day.Date == date {
			s = s.Plus(budget.Amount{Tokens: day.Usage.Tokens(), CostMicroUSD: day.Usage.CostMicroUSD, Calls: day.Calls})
		}
	}
	if c := r.Details.Calling; c != nil && budget.DateOf(r.UpdatedAt) == date {
		s = s.Plus(budget.Amount{Tokens: c.Usage.Tokens(), CostMicroUSD: c.Usage.CostMicroUSD, Calls: 1})
	}
	return s
}

// spending returns what the run has used since a person last granted its budgets, and what it may use.
func (r *Run) spending() (used, limit budget.Amount) {
	u, l := r.Details.Used, r.Details.Settings.Limits
	return budget.Amount{Tokens: u.Tokens, CostMicroUSD: u.CostMicroUSD, Calls: u.Calls}, budget.Amount{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD, Calls: l.Calls}
}

// Overspent says which budget the run has reached; empty if none.
func (r *Run) Overspent() string {
	_, limit := r.spending()
	return r.Overspends(limit)
}

// Overspends says which part of another budget the run has reached, such as that of the present configuration.
func (r *Run) Overspends(limit budget.Amount) string {
	used, _ := r.spending()
	return used.Reaches(limit, "limits")
}

// CallBudget returns what the next call of an agent may use.
func (r *Run) CallBudget() budget.Amount {
	used, limit := r.spending()
	return used.Left(limit)
}
