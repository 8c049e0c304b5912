package workflow

import (
	"fmt"
	"time"

	"signalbox/internal/workflow/wording"
)

// Day is what the agents of a run used on one day.
type Day struct {
	// Date is YYYY-MM-DD in UTC.
	Date    string  `json:"date"`
	Usage   Usage   `json:"usage"`
	Calls   int     `json:"calls"`
	Unknown Unknown `json:",embed"`
}

// DateOf is the day of a time.
func DateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// SpentOn is what the run's agents used on a day, the call in hand included.
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

// Spending is what agents used, or may use; as a budget, 0 is none.
type Spending struct {
	Tokens       int64
	CostMicroUSD int64
	Calls        int
}

// Plus is s and t together.
func (s Spending) Plus(t Spending) Spending {
	return Spending{s.Tokens + t.Tokens, s.CostMicroUSD + t.CostMicroUSD, s.Calls + t.Calls}
}

// Reaches says which part of a budget s reaches, in the words of the setting of that name; empty if none.
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

// Left is what s leaves of a budget, at least the least where there is one; 0 is still none.
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

// Within is the narrower of two budgets.
func (s Spending) Within(t Spending) Spending {
	narrower := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Spending{narrower(s.Tokens, t.Tokens), narrower(s.CostMicroUSD, t.CostMicroUSD), int(narrower(int64(s.Calls), int64(t.Calls)))}
}
