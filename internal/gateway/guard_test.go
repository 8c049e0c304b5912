package gateway_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
	"signalbox/internal/process"
)

// reckoning is an agent that asks its model twice and tells after each answer what that cost.
type reckoning struct {
	agent.Agent
	t    testing.TB
	cost float64
}

func (reckoning) Name() string { return "reckoning" }

func (a reckoning) Run(_ context.Context, task agent.Task, _ process.Executor) (agent.Result, error) {
	each, whole := agent.Usage{InputTokens: 1200, CachedTokens: 200, OutputTokens: 30, CostUSD: a.cost}, agent.Usage{}
	for range 2 {
		clients[0].ask(a.t, *task.Endpoint, false)
		task.Transcript(agent.Entry{Kind: agent.Used, Usage: &each})
		whole = whole.Add(each)
	}
	return agent.Result{Usage: whole}, nil
}

func TestGatewayAndAgentReportACallsUsageOnce(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cost   float64
		prices []func(*gateway.SessionConfig)
		want   agent.Usage
	}{
		"no cost is known":                   {0, nil, agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60}},
		"the agent alone reckons its cost":   {0.5, nil, agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 1}},
		"the configured price counts for it": {0.5, []func(*gateway.SessionConfig){priced}, agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.00702}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.Start(t, script(modeltest.Say("ok")))
			c := gateway.SessionConfig{Upstream: server.URL, Key: realKey}
			for _, price := range test.prices {
				price(&c)
			}
			var mu sync.Mutex
			var reported agent.Usage
			guarded := start(t, gateway.Config{}).Guard(reckoning{t: t, cost: test.cost}, c)
			result, err := guarded.Run(t.Context(), agent.Task{Role: "implementer", Transcript: func(e agent.Entry) {
				mu.Lock()
				defer mu.Unlock()
				reported = reported.Add(*e.Usage)
			}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for what, got := range map[string]agent.Usage{"the transcript": reported, "the result": result.Usage} {
				if got.CostUSD = math.Round(got.CostUSD*1e6) / 1e6; got != test.want {
					t.Errorf("%s comes to %+v, want %+v", what, got, test.want)
				}
			}
		})
	}
}
