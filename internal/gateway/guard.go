package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Guard returns an agent like a, each of whose calls talks to its model through its own session. The gateway's count of a call, its cost and its
// failure override the agent's own report.
func (g *Gateway) Guard(a agent.Agent, c SessionConfig) *Guarded { return &Guarded{a, g, c} }

// Guarded is what Guard returns.
type Guarded struct {
	agent.Agent
	gateway *Gateway
	config  SessionConfig
}

// Run implements agent.Agent.
func (a *Guarded) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	c := a.config
	c.Name = fmt.Sprintf("%s as %s", a.Name(), task.Role)
	c.Budget = Spending{Tokens: task.Budget.Tokens, CostMicroUSD: int64(task.Budget.CostUSD * 1e6)}
	c.OnUsage, c.OnInFlight = usageEntries(task.Transcript), task.InFlight
	s, err := a.gateway.Open(c)
	if err != nil {
		return agent.Result{}, err
	}
	defer s.Close()
	endpoint, whole := s.Endpoint, task.Transcript
	task.Endpoint, task.Transcript = &endpoint, s.withoutCounted(whole)
	result, err := a.Agent.Run(ctx, task, exec)
	s.Close()
	if err != nil {
		return result, err
	}
	r := s.Report()
	model := "" // the one that did most of the work: agents use a small one for titles
	for _, name := range slices.Sorted(maps.Keys(r.Models)) {
		if name != otherModels && (model == "" || r.Models[name].OutputTokens > r.Models[model].OutputTokens) {
			model = name
		}
	}
	result.Model = cmp.Or(model, result.Model)
	if r.Requests > 0 {
		own := result.Usage.CostUSD
		result.Usage = r.Usage
		result.Usage.CostUSD = cmp.Or(r.Usage.CostUSD, own) // the agent's own estimate if the gateway knows no price
	}
	if f := s.Failure(); f != nil && (result.Failure != nil || f.Code == agent.Overspent || f.Code == agent.DaySpent) {
		result.Failure = f
		if whole != nil { // the agent only knows that its session was ended
			whole(agent.Entry{Kind: agent.Erred, Text: string(f.Code) + ": " + f.Message})
		}
	}
	return result, nil
}

// usageEntries returns a function that reports to a transcript what was used since the last report.
func usageEntries(transcript func(agent.Entry)) func(agent.Usage) {
	if transcript == nil {
		return nil
	}
	var mu sync.Mutex
	var before agent.Usage
	return func(now agent.Usage) {
		mu.Lock()
		defer mu.Unlock()
		since := now.Sub(before)
		if before = now; since != (agent.Usage{}) {
			transcript(agent.Entry{Kind: agent.Used, Usage: &since})
		}
	}
}

// withoutCounted removes the agent's own usage from its entries, because the gateway reports it already and a sum over the transcript would count
// it twice. For models without a price the agent's cost stays.
func (s *Session) withoutCounted(transcript func(agent.Entry)) func(agent.Entry) {
	if transcript == nil {
		return nil
	}
	return func(e agent.Entry) {
		if e.Kind != agent.Used || e.Usage == nil {
			transcript(e)
			return
		}
		if r := s.Report(); e.Usage.CostUSD > 0 && r.Usage.CostUSD == 0 && len(r.Unpriced) > 0 {
			transcript(agent.Entry{Time: e.Time, Kind: agent.Used, Usage: &agent.Usage{CostUSD: e.Usage.CostUSD}})
		}
	}
}

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
	reported, whole := agent.Usage{}, task.Transcript
	var problem error
	var mu sync.Mutex
	count := func(u agent.Usage) { // the caller holds mu
		problem = errors.Join(problem, a.ledger.Add(context.WithoutCancel(ctx), Spending{Tokens: u.InputTokens + u.OutputTokens, CostMicroUSD: int64(u.CostUSD * 1e6)}))
	}
	task.Transcript = func(e agent.Entry) {
		if e.Kind == agent.Used && e.Usage != nil {
			mu.Lock()
			reported = reported.Add(*e.Usage)
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
	if rest := result.Usage.Sub(reported); rest != (agent.Usage{}) {
		count(rest)
	}
	return result, errors.Join(err, problem)
}
