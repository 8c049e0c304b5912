package place

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
)

// ErrDaySpent and ErrRunSpent: a budget is reached, so no session may begin. What wraps them says which.
var (
	ErrDaySpent = errors.New("nothing is left of the day's budget")
	ErrRunSpent = errors.New("nothing is left of the request's budget")
)

// MaySpend says why no session of the run may begin; grant is as in Begin.
func (p *Places) MaySpend(ctx context.Context, run *workflow.Run, grant bool) error {
	_, reached, err := p.Today(ctx)
	switch {
	case err != nil:
		return err
	case reached != "":
		return fmt.Errorf("%w: %s", ErrDaySpent, reached)
	case grant || p.PerRun == nil:
		return nil
	}
	if reached := run.Overspends(*p.PerRun); reached != "" {
		return fmt.Errorf("%w: its agents have used %s", ErrRunSpent, reached)
	}
	return nil
}

// Begin counts a session that works in a Place alone, as one call of the run, and returns what it
// may use. grant: a person grants the run's budgets anew.
func (p *Place) Begin(ctx context.Context, grant bool) (agent.Budget, error) {
	var err error
	if p.writer, p.run, err = p.places.Runs.OpenRun(ctx, workflow.RefOf(&p.run)); err != nil {
		return agent.Budget{}, fmt.Errorf("%w: %w", engine.ErrNotSaved, err)
	}
	if err := p.places.MaySpend(ctx, &p.run, grant); err != nil {
		return agent.Budget{}, err
	}
	left, _, err := p.places.Today(ctx)
	if err == nil {
		err = p.note(ctx, workflow.SessionBegan{Epoch: p.lock.Epoch(), Ceiling: p.places.PerRun, Grant: grant})
	}
	both := p.run.CallBudget().Within(left)
	return agent.Budget{Tokens: both.Tokens, CostUSD: float64(both.CostMicroUSD) / 1e6}, err
}

func (p *Place) note(ctx context.Context, event workflow.Event) error {
	select {
	case <-p.lock.Lost():
		return engine.ErrLost
	default:
	}
	return p.places.note(ctx, p.writer, &p.run, event)
}

// Spend books what the session used since it was told last, and says, for people, if that reaches a
// budget: the run's, or the day's, of which others use, too.
func (p *Place) Spend(ctx context.Context, used agent.Usage) (reached string, err error) {
	if err := p.note(ctx, workflow.SessionUsed{Usage: Usage(used)}); err != nil {
		return "", err
	}
	if _, reached, err = p.places.Today(ctx); err != nil || reached != "" {
		return reached, err
	}
	if l := p.run.Details.Settings.Limits; l.Tokens > 0 || l.CostMicroUSD > 0 {
		budget := workflow.Spending{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD} // its call is counted already
		if reached = p.run.Overspends(budget); reached != "" {
			reached = "the request's agents have used " + reached
		}
	}
	return reached, nil
}

// Today is what the day leaves to one more call; reached says, for people, that it leaves nothing. What the agents of all
// runs, and the sessions in their environments, used is read off the runs: a sum kept beside them could be wrong after a crash.
func (p *Places) Today(ctx context.Context) (left workflow.Spending, reached string, err error) {
	if p.PerDay == (workflow.Spending{}) {
		return left, "", nil
	}
	runs, err := p.Runs.Runs(ctx)
	if err != nil {
		err = fmt.Errorf("sum up what agents used today: %w", err)
	}
	date, spent := workflow.DateOf(p.Now()), workflow.Spending{}
	for _, run := range runs {
		spent = spent.Plus(run.Run.SpentOn(date))
	}
	if reached = spent.Reaches(p.PerDay, "limits.per_day"); reached != "" {
		reached = "the day's agents have used " + reached
	}
	return spent.Left(p.PerDay), reached, err
}

// Usage is an agent's reckoning in the words of documents; money is rounded to millionths.
func Usage(u agent.Usage) workflow.Usage {
	return workflow.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens,
		CostMicroUSD: int64(u.CostUSD*1e6 + 0.5)}
}
