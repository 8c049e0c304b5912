package gateway

import (
	"cmp"
	"context"
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
	c.OnUsage, c.OnInFlight = telling(task.Transcript), task.InFlight
	s, err := a.gateway.Open(c)
	if err != nil {
		return agent.Result{}, err
	}
	defer s.Close()
	endpoint, whole := s.Endpoint(), task.Transcript
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

// telling reports to a transcript what was used since the last report.
func telling(transcript func(agent.Entry)) func(agent.Usage) {
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
