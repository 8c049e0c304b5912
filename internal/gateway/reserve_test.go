package gateway_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

// A small budget and sixty simultaneous requests: one that is alone may begin although it asks for more than is left, and its usage leaves nothing
// for the others.
func TestOfSixtyRequestsAtOnceOnlyThoseReachTheVendorThatFit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		budget gateway.Spending
		most   int
	}{
		{"one", gateway.Spending{Tokens: 1000}, 1},
		// Each uses 1,230 tokens, and reserves 4,105 before that is known.
		{"as many as fit", gateway.Spending{Tokens: 12_300}, 10},
		{"as many as the money is for", gateway.Spending{CostMicroUSD: 35_100}, 10},
	} {
		for _, c := range clients {
			t.Run(test.name+" of "+string(c.api), func(t *testing.T) {
				t.Parallel()
				server := modeltest.Start(t, script(modeltest.Say("ok")))
				s := open(t, start(t, gateway.Config{}), server.URL, priced, func(c *gateway.SessionConfig) { c.Budget = test.budget })
				var asking sync.WaitGroup
				for range 60 {
					asking.Go(func() {
						for got := (answer{status: http.StatusTooManyRequests}); got.status == http.StatusTooManyRequests; {
							got = c.ask(t, s.Endpoint, true)
						}
					})
				}
				asking.Wait()
				if got := server.Count(); got != test.most || code(s) != agent.Overspent {
					t.Errorf("%d requests reached the vendor, want %d; %+v, %+v", got, test.most, s.Failure(), s.Report())
				}
			})
		}
	}
}

func TestARequestsInputMustFitTheBudget(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Budget.Tokens = 1000 })
	c := clients[0]
	c.streamBody = strings.Replace(c.streamBody, "Go.", strings.Repeat("a lot ", 2000), 1)
	if got := c.ask(t, s.Endpoint, true); !over(got) || server.Count() != 0 {
		t.Fatalf("%d requests reached the vendor: %+v", server.Count(), got)
	}
	if want := "the budget of the call is used up: the next request sends about 2014 tokens, and 1000 of 1000 are left"; s.Failure().Message != want {
		t.Errorf("it says %q, want %q", s.Failure().Message, want)
	}
}

// waiter asks a budget, and says when it got an answer.
func waiter(ctx context.Context, t *testing.T, a gateway.Budget, most int64) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		hold, err := a.Reserve(ctx, gateway.Ask{Most: gateway.Spending{Tokens: most}})
		if err == nil {
			hold.Release()
		}
		done <- err
	}()
	return done
}

func TestARequestWaitsForThoseOnTheirWayAndIsRefusedOnceTheyUsedAll(t *testing.T) {
	t.Parallel()
	a := gateway.NewAllowance("today", gateway.Spending{Tokens: 100}, gateway.Spending{})
	first, err := a.Reserve(t.Context(), gateway.Ask{Most: gateway.Spending{Tokens: 90}})
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	impatient := waiter(gone, t, a, 20)
	leave()
	if err := <-impatient; !errors.Is(err, context.Canceled) {
		t.Errorf("one that went away: %v", err)
	}
	waiting := waiter(t.Context(), t, a, 20)
	select {
	case err := <-waiting:
		t.Fatalf("it did not wait: %v", err)
	default:
	}
	if err := first.Spend(gateway.Spending{Tokens: 30}); err != nil {
		t.Error(err)
	}
	first.Release()
	if err := <-waiting; err != nil {
		t.Errorf("what was given back did not let it in: %v", err)
	}
	second, err := a.Reserve(t.Context(), gateway.Ask{Most: gateway.Spending{Tokens: 500}})
	if err != nil {
		t.Fatalf("alone it may use what is left: %v", err)
	}
	waiting = waiter(t.Context(), t, a, 1)
	if err := second.Spend(gateway.Spending{Tokens: 70}); err != nil {
		t.Errorf("the last token: %v", err)
	}
	second.Release()
	if err := <-waiting; !errors.Is(err, gateway.ErrSpent) {
		t.Errorf("nothing is left, and it got %v", err)
	}
}

// The vendor has the request, and may bill all that was asked for.
func TestUnreportedUsageCountsAsTheWholeReservation(t *testing.T) {
	t.Parallel()
	const input, output = 4096, 9
	hang := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	begin := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1200,\"output_tokens\":1}}}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	late := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGatewayTimeout) }
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	for _, test := range []struct {
		name   string
		vendor http.HandlerFunc
		body   string
		want   agent.Usage
	}{
		{"no answer", hang, clients[0].streamBody, agent.Usage{InputTokens: input, CachedTokens: input, OutputTokens: output}},
		{"an answer that broke off", begin, clients[0].streamBody, agent.Usage{InputTokens: 1200, OutputTokens: 1}},
		{"an answer that broke off after thoughts nobody saw", begin,
			strings.Replace(clients[0].streamBody, `{`, `{"thinking":{"type":"enabled","budget_tokens":5},`, 1), agent.Usage{InputTokens: 1200, OutputTokens: output}},
		{"a vendor's own proxy gave up", late, clients[0].streamBody, agent.Usage{InputTokens: input, CachedTokens: input, OutputTokens: output}},
		{"refused", refused, clients[0].streamBody, agent.Usage{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			arrived := make(chan int64, 1)
			var flying atomic.Int64
			s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				arrived <- flying.Load()
				test.vendor(w, r)
			}), func(c *gateway.SessionConfig) {
				c.OnInFlight = func(u agent.Usage) { flying.Store(u.InputTokens + u.OutputTokens) }
			})
			c := clients[0]
			c.streamBody = test.body
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				if response, err := transport(t).RoundTrip(c.request(t, s.Endpoint, true).WithContext(ctx)); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
					_ = response.Body.Close()
				}
			}()
			if got := <-arrived; got != input+output {
				t.Errorf("while it was on its way %d tokens were reported", got)
			}
			if test.name == "no answer" {
				leave() // the agent is gone, or killed
			}
			<-answered
			s.Close()
			if got := s.Report().Usage; got != test.want || flying.Load() != 0 {
				t.Errorf("it counts %+v, want %+v; %d tokens are still on their way", got, test.want, flying.Load())
			}
		})
	}
}

func TestPicturesAreNoText(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Budget.Tokens = 100_000 })
	c := clients[0]
	c.streamBody = strings.Replace(c.streamBody, `"Go."`, `[{"type":"text","text":"Go."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+strings.Repeat("iVBO", 1<<18)+`"}}]`, 1)
	if got := c.ask(t, s.Endpoint, true); got.status != http.StatusOK || got.broken != nil {
		t.Errorf("a picture of 1 MiB was taken for text: %+v", s.Failure())
	}
}
