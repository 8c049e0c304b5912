package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"signalbox/internal/workflow/wording"
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
	return fmt.Sprintf("%d tokens, %s", u.Tokens(), dollars(u.CostMicroUSD))
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens, CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD, Unknown: u.Unknown}
}

// dollars returns an amount for people, with four digits below a dollar.
func dollars(microUSD int64) string {
	if microUSD < 1e6 {
		return fmt.Sprintf("$%.4f", float64(microUSD)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(microUSD)/1e6)
}

// Assistant is an agent that took part in the run. Commits and pull requests name it as the author's helper.
type Assistant struct {
	Role Role `json:"role"`
	// Agent is its name in the configuration; Program and Model are as in Call.
	Agent   string  `json:"agent"`
	Program string  `json:"program,omitempty"`
	Model   string  `json:"model,omitempty"`
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

// DateOf returns the date of a time, in UTC.
func DateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Spending is what agents used, or may use. As a budget, a part that is 0 has no limit.
type Spending struct {
	Tokens       int64
	CostMicroUSD int64
	Calls        int
}

// Plus returns the sum of s and t.
func (s Spending) Plus(t Spending) Spending {
	return Spending{s.Tokens + t.Tokens, s.CostMicroUSD + t.CostMicroUSD, s.Calls + t.Calls}
}

// Reaches says which part of a budget s reaches, naming the setting that holds it; empty if none.
func (s Spending) Reaches(budget Spending, setting string) string {
	switch {
	case budget.Tokens > 0 && s.Tokens >= budget.Tokens:
		return fmt.Sprintf("%d tokens of %d (%s.tokens)", s.Tokens, budget.Tokens, setting)
	case budget.CostMicroUSD > 0 && s.CostMicroUSD >= budget.CostMicroUSD:
		return fmt.Sprintf("%s of %s (%s.cost_usd)", dollars(s.CostMicroUSD), dollars(budget.CostMicroUSD), setting)
	case budget.Calls > 0 && s.Calls >= budget.Calls:
		return fmt.Sprintf("%s of %d (%s.calls)", wording.Count(s.Calls, "call"), budget.Calls, setting)
	}
	return ""
}

// Left returns what s leaves of a budget. A part that has a limit leaves at least 1, because 0 would mean no limit.
func (s Spending) Left(budget Spending) Spending {
	left := budget
	if budget.Tokens > 0 {
		left.Tokens = max(1, budget.Tokens-s.Tokens)
	}
	if budget.CostMicroUSD > 0 {
		left.CostMicroUSD = max(1, budget.CostMicroUSD-s.CostMicroUSD)
	}
	if budget.Calls > 0 {
		left.Calls = max(1, budget.Calls-s.Calls)
	}
	return left
}

// Within returns the narrower of two budgets, part by part.
func (s Spending) Within(t Spending) Spending {
	narrower := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Spending{narrower(s.Tokens, t.Tokens), narrower(s.CostMicroUSD, t.CostMicroUSD), int(narrower(int64(s.Calls), int64(t.Calls)))}
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
func (r *Run) SpentOn(date string) Spending {
	var s Spending
	for _, day := range r.Details.Days {
		if day.Date == date {
			s = s.Plus(Spending{day.Usage.Tokens(), day.Usage.CostMicroUSD, day.Calls})
		}
	}
	if c := r.Details.Calling; c != nil && DateOf(r.UpdatedAt) == date {
		s = s.Plus(Spending{c.Usage.Tokens(), c.Usage.CostMicroUSD, 1})
	}
	return s
}

// budget returns what the run has used since a person last granted its budgets, and what it may use.
func (r *Run) budget() (used, limit Spending) {
	u, l := r.Details.Used, r.Details.Settings.Limits
	return Spending{u.Tokens, u.CostMicroUSD, u.Calls}, Spending{l.Tokens, l.CostMicroUSD, l.Calls}
}

// Overspent says which budget the run has reached; empty if none.
func (r *Run) Overspent() string {
	_, limit := r.budget()
	return r.Overspends(limit)
}

// Overspends says which part of another budget the run has reached, such as that of the present configuration.
func (r *Run) Overspends(limit Spending) string {
	used, _ := r.budget()
	return used.Reaches(limit, "limits")
}

// CallBudget returns what the next call of an agent may use.
func (r *Run) CallBudget() Spending {
	used, limit := r.budget()
	return used.Left(limit)
}
