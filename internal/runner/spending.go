package runner

import (
	"context"
	"fmt"
	"time"

	"signalbox/internal/workflow"
)

// mayCall is what a call may use, or the event that it may not be made at all today.
func (w *work) mayCall(ctx context.Context, o workflow.Outcome) (workflow.Spending, workflow.Event, error) {
	ceiling := w.run.CallCeiling()
	if w.PerDay == (workflow.Spending{}) {
		return ceiling, nil, nil
	}
	now := w.Clock.Now().UTC()
	spent, err := w.spentOn(ctx, workflow.DateOf(now))
	if err != nil {
		return ceiling, nil, err
	}
	if reached := spent.Reaches(w.PerDay, "limits.per_day"); reached != "" {
		return ceiling, workflow.AgentFailed{Outcome: o, Code: "AGENT_DAY_SPENT", Message: "the day's agents have used " + reached,
			Until: now.Truncate(24 * time.Hour).Add(24 * time.Hour)}, nil
	}
	return ceiling.Within(spent.Left(w.PerDay)), nil, nil
}

// spentOn is what the agents of all runs used on a day. It is read off the runs: a sum kept beside
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
