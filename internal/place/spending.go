package place

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/agent"
	"signalbox/internal/engine"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// ErrDaySpent and ErrRunSpent: a budget is used up, so no session may begin. The wrapping error says which budget.
var (
	ErrDaySpent = errors.New("nothing is left of the day's budget")
	ErrRunSpent = errors.New("nothing is left of the request's budget")
)

// MaySpend returns an error if no session of the run may begin; grant is as in Begin.
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

// Begin counts a session, which needs the Place alone, as one call of the run, and returns its budget. grant: a person grants
// the run's budgets again.
func (p *Place) Begin(ctx context.Context, grant bool) (agent.Budget, error) {
	var err error
	if p.writer, p.Run, err = p.places.Runs.OpenRun(ctx, workflow.RefOf(&p.Run)); err != nil {
		return agent.Budget{}, fmt.Errorf("%w: %w", engine.ErrNotSaved, err)
	}
	if err := p.places.MaySpend(ctx, &p.Run, grant); err != nil {
		return agent.Budget{}, err
	}
	left, _, err := p.places.Today(ctx)
	if err == nil {
		err = p.places.note(ctx, p.lock.Lost(), p.writer, &p.Run, workflow.SessionBegan{Epoch: p.lock.Epoch(), Budget: p.places.PerRun, Grant: grant})
	}
	both := p.Run.CallBudget().Within(left)
	return agent.Budget{Tokens: both.Tokens, CostUSD: float64(both.CostMicroUSD) / 1e6}, err
}

// Spend books what the session used since the last call. reached says for people which budget is used up: the run's, or the
// day's, which others use, too.
func (p *Place) Spend(ctx context.Context, used agent.Usage) (reached string, err error) {
	if err := p.places.note(ctx, p.lock.Lost(), p.writer, &p.Run, workflow.SessionUsed{Usage: Usage(used)}); err != nil {
		return "", err
	}
	if _, reached, err = p.places.Today(ctx); err != nil || reached != "" {
		return reached, err
	}
	if l := p.Run.Details.Settings.Limits; l.Tokens > 0 || l.CostMicroUSD > 0 {
		budget := budget.Amount{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD} // its call is counted already
		if reached = p.Run.Overspends(budget); reached != "" {
			reached = "the request's agents have used " + reached
		}
	}
	return reached, nil
}

// Today returns what is left of the day's budget; reached says for people that it's used up. It adds up the usage in all runs,
// which includes sessions: a separate sum could be wrong after a crash.
func (p *Places) Today(ctx context.Context) (left budget.Amount, reached string, err error) {
	if p.PerDay == (budget.Amount{}) {
		return left, "", nil
	}
	runs, err := p.Runs.Runs(ctx)
	if err != nil {
		err = fmt.Errorf("sum up what agents used today: %w", err)
	}
	date, spent := budget.DateOf(p.Now()), budget.Amount{}
	for _, run := range runs {
		spent = spent.Plus(run.Run.SpentOn(date))
	}
	if reached = spent.Reaches(p.PerDay, "limits.per_day"); reached != "" {
		reached = "the day's agents have used " + reached
	}
	return spent.Left(p.PerDay), reached, err
}

// Usage converts an agent's usage to that of documents; money is rounded to millionths.
func Usage(u agent.Usage) workflow.Usage {
	return workflow.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens,
		CostMicroUSD: int64(u.CostUSD*1e6 + 0.5)}
}
