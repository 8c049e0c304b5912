package gateway_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

func TestRequestsStopExactlyAtTheBudget(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Budget.Requests = 7 })
	var served, refused atomic.Int64
	var asking sync.WaitGroup
	for range 15 {
		asking.Go(func() {
			switch got := clients[0].ask(t, s.Endpoint, true); {
			case got.status == http.StatusOK:
				served.Add(1)
			case over(got):
				refused.Add(1)
			}
		})
	}
	asking.Wait()
	if served.Load() != 7 || refused.Load() != 8 || server.Count() != 7 || s.Report().Requests != 7 {
		t.Errorf("%d served, %d refused, %d upstream, Report %+v", served.Load(), refused.Load(), server.Count(), s.Report())
	}
	if f := s.Failure(); f == nil || f.Code != agent.Overspent || f.Message != "the budget of the call is used up: 7 of 7 requests" {
		t.Errorf("Failure = %+v", f)
	}
}

func TestTheLastTokenMayBeUsedAndNotOneMore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		budget gateway.Spending
		whole  bool
	}{
		{"tokens that just suffice", gateway.Spending{Tokens: 1230}, true},
		{"one too few", gateway.Spending{Tokens: 1229}, false},
		{"money that just suffices", gateway.Spending{CostMicroUSD: 3510}, true},
		{"a millionth too little", gateway.Spending{CostMicroUSD: 3509}, false},
	} {
		for _, c := range clients {
			for _, stream := range []bool{false, true} {
				server := modeltest.Start(t, script(modeltest.Say("ok")))
				s := open(t, start(t, gateway.Config{}), server.URL, priced, func(c *gateway.SessionConfig) { c.Budget = test.budget })
				first, second := c.ask(t, s.Endpoint, stream), c.ask(t, s.Endpoint, stream)
				if (first.broken == nil) != test.whole || !over(second) || code(s) != agent.Overspent || server.Count() != 1 {
					t.Errorf("%s, %s, stream %t: %v, then %d; %+v", test.name, c.api, stream, first.broken, second.status, s.Failure())
				}
			}
		}
	}
}

func TestAStreamIsCutWhereItExceedsTheBudget(t *testing.T) {
	t.Parallel()
	for _, c := range clients[:3] { // Gemini tells its usage in every event
		ended := make(chan modeltest.Exchange, 1)
		config := script(modeltest.Say(strings.Repeat("x", 24<<20)))
		config.Observe = func(x modeltest.Exchange) {
			if x.End != "" {
				ended <- x
			}
		}
		server := modeltest.Start(t, config)
		var reported atomic.Int64
		s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) {
			c.Budget.Tokens = 200_000
			c.OnUsage = func(u agent.Usage) { reported.Store(u.InputTokens + u.OutputTokens) }
		})
		got := c.ask(t, s.Endpoint, true)
		if got.broken == nil || len(got.body) > 1<<20 {
			t.Errorf("%s: the agent got %d bytes, %v", c.api, len(got.body), got.broken)
		}
		if x := <-ended; x.End != modeltest.Gone {
			t.Errorf("%s: upstream's answer: %s", c.api, x.End)
		}
		s.Close()
		r := s.Report()
		if r.Usage.OutputTokens < 190_000 || r.Usage.OutputTokens > 250_000 || r.Estimated < r.Usage.OutputTokens-1 || reported.Load() != r.Usage.InputTokens+r.Usage.OutputTokens {
			t.Errorf("%s: told %d, Report = %+v", c.api, reported.Load(), r)
		}
	}
}

func TestSessionsShareABudget(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	g := start(t, gateway.Config{})
	today := gateway.NewAllowance("today", gateway.Spending{Tokens: 4000, Requests: 9}, gateway.Spending{Tokens: 1540, Requests: 1})
	share := func(c *gateway.SessionConfig) { c.Shared = []gateway.Budget{today} }
	one, other := open(t, g, server.URL, share), open(t, g, server.URL, share)
	for _, s := range []*gateway.Session{one, other} {
		if got := clients[0].ask(t, s.Endpoint, true); got.status != http.StatusOK || got.broken != nil {
			t.Fatalf("%+v", got)
		}
	}
	for _, s := range []*gateway.Session{one, other} {
		if got := clients[0].ask(t, s.Endpoint, true); !over(got) || s.Failure().Message != "the budget of today is used up: 4000 of 4000 tokens" {
			t.Errorf("%+v, %+v", got, s.Failure())
		}
	}
	if want := (gateway.Spending{Tokens: 4000, Requests: 3}); today.Used() != want {
		t.Errorf("Used = %+v", today.Used())
	}
}

func TestAModelWithoutAPriceCountsTokensAlone(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) {
		c.Prices, c.Budget.CostMicroUSD = map[string]gateway.Price{"other": {Input: 1}}, 1
	})
	clients[0].ask(t, s.Endpoint, true)
	if got := clients[0].ask(t, s.Endpoint, true); got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	if r := s.Report(); len(r.Unpriced) != 1 || r.Unpriced[0] != "m" || r.Usage.CostUSD != 0 || r.Usage.OutputTokens != 60 {
		t.Errorf("Report = %+v", r)
	}
}
