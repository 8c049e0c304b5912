package runner

import (
	"context"
	"fmt"
	"time"

	"signalbox/internal/workflow"
)

// allowance is what a call may use.
type allowance struct {
	// run and day are what is left of the run's ceiling and of the day's.
	run, day workflow.Spending
	// midnight is when the day ends.
	midnight time.Time
}

// both is the narrower of the two.
func (a allowance) both() workflow.Spending { return a.run.Within(a.day) }

// reached says what a call that used so much has reached: a code and, for people, which ceiling;
// empty if none.
func (a allowance) reached(u workflow.Usage) (code, ceiling string) {
	spent := workflow.Spending{Tokens: u.Tokens(), CostMicroUSD: u.CostMicroUSD}
	if day := spent.Reaches(a.day, "left of limits.per_day"); day != "" {
		return workflow.AgentDaySpentCode, day
	}
	if run := spent.Reaches(a.run, "left of limits"); run != "" {
		return workflow.AgentOverspentCode, run
	}
	return "", ""
}

// narrower is the budget that holds less for one more request, where one was refused that would not fit.
func (a allowance) narrower() (code, ceiling string) {
	less := func(day, run int64) bool { return day > 0 && (run == 0 || day < run) }
	if less(a.day.Tokens, a.run.Tokens) || less(a.day.CostMicroUSD, a.run.CostMicroUSD) {
		return workflow.AgentDaySpentCode, "all that fits into what is left of limits.per_day"
	}
	return workflow.AgentOverspentCode, "all that fits into what is left of limits"
}

// failed is the event of a call that was ended for what it used.
func (a allowance) failed(o workflow.Outcome, code, message, log string) workflow.AgentFailed {
	e := workflow.AgentFailed{Outcome: o, Code: code, Message: message, LogPath: log}
	if code == workflow.AgentDaySpentCode {
		e.Until = a.midnight
	}
	return e
}

// mayCall is what a call may use, or the event that it may not be made at all today.
func (w *work) mayCall(ctx context.Context, o workflow.Outcome) (allowance, workflow.Event, error) {
	a := allowance{run: w.run.CallCeiling(), midnight: w.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)}
	day, reached, err := w.today(ctx)
	if err == nil && reached != "" {
		return a, a.failed(o, workflow.AgentDaySpentCode, reached, ""), nil
	}
	a.day = day
	return a, nil, err
}

// today is what the day leaves to one more call; reached says, for people, that it leaves nothing.
func (w *work) today(ctx context.Context) (left workflow.Spending, reached string, err error) {
	if w.PerDay == (workflow.Spending{}) {
		return left, "", nil
	}
	spent, err := w.spentOn(ctx, workflow.DateOf(w.Clock.Now()))
	if reached = spent.Reaches(w.PerDay, "limits.per_day"); reached != "" {
		reached = "the day's agents have used " + reached
	}
	return spent.Left(w.PerDay), reached, err
}

// spentOn is what the agents of all runs, and the sessions in their environments, used on a day. It is read off the runs: a sum kept beside
// them could be wrong after a crash.
func (w *work) spentOn(ctx context.Context, date string) (sum workflow.Spending, err error) {
	runs, err := w.Store.Runs(ctx)
	if err != nil {
		return sum, fmt.Errorf("sum up what agents used today: %w", err)
	}
	for _, run := range runs {
		sum = sum.Plus(run.Run.SpentOn(date))
	}
	return sum, nil
}
