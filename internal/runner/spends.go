package runner

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/agent"
	"signalbox/internal/workflow"
)

// ErrDaySpent and ErrRunSpent: a ceiling is reached, so no session may begin. What wraps them says which.
var (
	ErrDaySpent = errors.New("nothing is left of the day's ceiling")
	ErrRunSpent = errors.New("nothing is left of the request's ceiling")
)

// MaySpend says why no session of the run may begin; grant is as in Begin.
func (r *Runner) MaySpend(ctx context.Context, run workflow.Run, grant bool) error {
	return (&work{Runner: r, run: run}).maySpend(ctx, grant)
}

func (w *work) maySpend(ctx context.Context, grant bool) error {
	_, reached, err := w.today(ctx)
	switch {
	case err != nil:
		return err
	case reached != "":
		return fmt.Errorf("%w: %s", ErrDaySpent, reached)
	case grant || w.PerRun == nil:
		return nil
	}
	if reached := w.run.Overspends(*w.PerRun); reached != "" {
		return fmt.Errorf("%w: its agents have used %s", ErrRunSpent, reached)
	}
	return nil
}

// Begin counts a session that works in a Place alone, as one call of the run, and returns what it
// may use. grant: a person grants the run's ceilings anew.
func (p *Place) Begin(ctx context.Context, grant bool) (agent.Ceiling, error) {
	w := p.work
	var err error
	if w.writer, w.run, err = w.Store.OpenRun(ctx, w.ref); err != nil {
		return agent.Ceiling{}, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if err := w.maySpend(ctx, grant); err != nil {
		return agent.Ceiling{}, err
	}
	left, _, err := w.today(ctx)
	if err == nil {
		err = w.note(ctx, &w.run, workflow.SessionBegan{Epoch: w.request.Epoch(), Ceiling: w.PerRun, Grant: grant})
	}
	both := w.run.CallCeiling().Within(left)
	return agent.Ceiling{Tokens: both.Tokens, CostUSD: float64(both.CostMicroUSD) / 1e6}, err
}

// Spend books what the session used since it was told last, and says, for people, if that reaches a
// ceiling: the run's, or the day's, of which others use, too.
func (p *Place) Spend(ctx context.Context, used agent.Usage) (reached string, err error) {
	w := p.work
	if err := w.note(ctx, &w.run, workflow.SessionUsed{Usage: usage(used)}); err != nil {
		return "", err
	}
	if _, reached, err = w.today(ctx); err != nil || reached != "" {
		return reached, err
	}
	if l := w.run.Journey.Settings.Limits; l.Tokens > 0 || l.CostMicroUSD > 0 {
		ceiling := workflow.Spending{Tokens: l.Tokens, CostMicroUSD: l.CostMicroUSD} // its call is counted already
		if reached = w.run.Overspends(ceiling); reached != "" {
			reached = "the request's agents have used " + reached
		}
	}
	return reached, nil
}
