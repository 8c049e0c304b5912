package gateway

import (
	"context"
	"errors"
	"sync"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Counted returns an agent like a whose calls count in the ledger. If itself is true, the agent reports its own usage, because no gateway session
// is between it and its model.
func (l *Ledger) Counted(a agent.Agent, itself bool) agent.Agent { return &counted{a, l, itself} }

type counted struct {
	agent.Agent
	ledger *Ledger
	itself bool
}

// Run implements agent.Agent.
func (a *counted) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	switch err := a.ledger.Begin(ctx); {
	case errors.Is(err, ErrSpent):
		return agent.Result{Failure: overspent(err)}, nil
	case err != nil:
		return agent.Result{}, err
	}
	if !a.itself {
		return a.Agent.Run(ctx, task, exec)
	}
	told, whole := agent.Usage{}, task.Transcript
	var problem error
	var mu sync.Mutex
	count := func(u agent.Usage) { // the caller holds mu
		problem = errors.Join(problem, a.ledger.Add(context.WithoutCancel(ctx), Spending{Tokens: u.InputTokens + u.OutputTokens, CostMicroUSD: int64(u.CostUSD * 1e6)}))
	}
	task.Transcript = func(e agent.Entry) {
		if e.Kind == agent.Used && e.Usage != nil {
			mu.Lock()
			told = told.Add(*e.Usage)
			count(*e.Usage)
			mu.Unlock()
		}
		if whole != nil {
			whole(e)
		}
	}
	result, err := a.Agent.Run(ctx, task, exec)
	mu.Lock()
	defer mu.Unlock()
	if rest := result.Usage.Sub(told); rest != (agent.Usage{}) {
		count(rest)
	}
	return result, errors.Join(err, problem)
}
