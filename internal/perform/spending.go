package perform

import (
	"context"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// allowance is the budget of one call.
type allowance struct {
	// run and day are what is left of the run's and the day's budget.
	run, day budget.Amount
	// midnight is when the day ends.
	midnight time.Time
}

// reached returns the budget that a call with this usage has used up: a code, and words for people; empty if none.
func (a allowance) reached(u workflow.Usage) (code, what string) {
	spent := budget.Amount{Tokens: u.Tokens(), CostMicroUSD: u.CostMicroUSD}
	if day := spent.Reaches(a.day, "left of limits.per_day"); day != "" {
		return workflow.AgentDaySpentCode, day
	}
	if run := spent.Reaches(a.run, "left of limits"); run != "" {
		return workflow.AgentOverspentCode, run
	}
	return "", ""
}

// narrower returns the smaller budget, which a refused request would have exceeded.
func (a allowance) narrower() (code, what string) {
	less := func(day, run int64) bool { return day > 0 && (run == 0 || day < run) }
	if less(a.day.Tokens, a.run.Tokens) || less(a.day.CostMicroUSD, a.run.CostMicroUSD) {
		return workflow.AgentDaySpentCode, "all that fits into what is left of limits.per_day"
	}
	return workflow.AgentOverspentCode, "all that fits into what is left of limits"
}

// failed returns the event of a call that ended because of its usage.
func (a allowance) failed(o workflow.Outcome, code, message, log string) workflow.AgentFailed {
	e := workflow.AgentFailed{Outcome: o, Code: code, Message: message, LogPath: log}
	if code == workflow.AgentDaySpentCode {
		e.Until = a.midnight
	}
	return e
}

// mayCall returns the budget of a call, or the event that says that no call is possible today.
func (x *execution) mayCall(ctx context.Context, o workflow.Outcome) (allowance, workflow.Event, error) {
	a := allowance{run: x.run.CallBudget(), midnight: x.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)}
	day, reached, err := x.Places.Today(ctx)
	if err == nil && reached != "" {
		return a, a.failed(o, workflow.AgentDaySpentCode, reached, ""), nil
	}
	a.day = day
	return a, nil, err
}
