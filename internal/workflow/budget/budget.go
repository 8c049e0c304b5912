// Package budget has what agents used, or may use, and compares the two.
package budget

import (
	"fmt"
	"time"

	"signalbox/internal/workflow/wording"
)

// Amount is what agents used, or may use. As a budget, a part that is 0 has no limit.
type Amount struct {
	Tokens       int64
	CostMicroUSD int64
	Calls        int
}

// Plus returns the sum of s and t.
func (s Amount) Plus(t Amount) Amount {
	return Amount{s.Tokens + t.Tokens, s.CostMicroUSD + t.CostMicroUSD, s.Calls + t.Calls}
}

// Reaches says which part of a budget s reaches, naming the setting that holds it; empty if none.
func (s Amount) Reaches(budget Amount, setting string) string {
	switch {
	case budget.Tokens > 0 && s.Tokens >= budget.Tokens:
		return fmt.Sprintf("%d tokens of %d (%s.tokens)", s.Tokens, budget.Tokens, setting)
	case budget.CostMicroUSD > 0 && s.CostMicroUSD >= budget.CostMicroUSD:
		return fmt.Sprintf("%s of %s (%s.cost_usd)", Dollars(s.CostMicroUSD), Dollars(budget.CostMicroUSD), setting)
	case budget.Calls > 0 && s.Calls >= budget.Calls:
		return fmt.Sprintf("%s of %d (%s.calls)", wording.Count(s.Calls, "call"), budget.Calls, setting)
	}
	return ""
}

// Left returns what s leaves of a budget. A part that has a limit leaves at least 1, because 0 would mean no limit.
func (s Amount) Left(budget Amount) Amount {
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
func (s Amount) Within(t Amount) Amount {
	narrower := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Amount{narrower(s.Tokens, t.Tokens), narrower(s.CostMicroUSD, t.CostMicroUSD), int(narrower(int64(s.Calls), int64(t.Calls)))}
}

// Dollars returns an amount for people, with four digits below a dollar.
func Dollars(microUSD int64) string {
	if microUSD < 1e6 {
		return fmt.Sprintf("$%.4f", float64(microUSD)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(microUSD)/1e6)
}

// DateOf returns the date of a time, in UTC.
func DateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }
