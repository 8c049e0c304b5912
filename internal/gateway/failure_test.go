package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

// over is what ends every agent: see statusOver.
func over(a answer) bool {
	return a.status == http.StatusBadRequest && strings.Contains(a.body, "Signalbox has ended this session")
}

func TestErrorsOfEveryVendorAreUnderstood(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	const soon, later, late = 30 * time.Second, 40 * time.Second, 3 * time.Hour
	for _, test := range []struct {
		fault modeltest.Fault
		code  agent.FailureCode
		until time.Duration
		// asked is how often the agent's asking reaches upstream.
		asked int
	}{
		{modeltest.Fault{Kind: modeltest.Unauthorized}, agent.Unauthorized, 0, 1},
		{modeltest.Fault{Kind: modeltest.Forbidden}, agent.Unauthorized, 0, 5},
		{modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: soon}, agent.RateLimited, soon, 3},
		{modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: soon, AsDate: true}, agent.RateLimited, soon, 3},
		{modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: later}, agent.RateLimited, later, 1},
		{modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: late}, agent.RateLimited, late, 1},
		{modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: late}, agent.UsageLimited, late, 1},
		{modeltest.Fault{Kind: modeltest.ServerError}, agent.ModelFailed, 0, 3},
		{modeltest.Fault{Kind: modeltest.Overloaded}, agent.ModelFailed, 0, 3},
		{modeltest.Fault{Kind: modeltest.Overflow}, agent.Overflowed, 0, 5},
	} {
		for _, c := range clients {
			for _, inStream := range []bool{false, true} {
				key := test.code == agent.Unauthorized // looked at before a stream begins
				if inStream && (key || test.fault.RetryAfter > 0) {
					continue // nor do streams tell times
				}
				fault := test.fault
				fault.InStream, fault.Events = inStream, 1
				t.Run(fmt.Sprint(c.api, fault), func(t *testing.T) {
					t.Parallel()
					clock := func() time.Time { return now }
					config := script(modeltest.Turn{Say: "a word", Fault: fault})
					config.Clock = clock
					server := modeltest.Start(t, config)
					s := open(t, start(t, gateway.Config{Clock: clock}), server.URL)
					var last answer
					for range 5 {
						last = c.ask(t, s.Endpoint, true)
					}
					f := s.Failure()
					if f == nil || f.Code != test.code {
						t.Fatalf("Failure = %+v, want %s", f, test.code)
					}
					if want := now.Add(test.until); test.until > 0 && !f.Until.Equal(want) {
						t.Errorf("Until = %s, want %s", f.Until, want)
					}
					if got := server.Count(); got != test.asked {
						t.Errorf("upstream was asked %d times, want %d", got, test.asked)
					}
					if over(last) != (test.asked < 5) {
						t.Errorf("the fifth answer: %d %s", last.status, last.body)
					}
				})
			}
		}
	}
}

func TestAnErrorPassesWithItsRequestIDUntilTheLast(t *testing.T) {
	t.Parallel()
	s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Request-Id", "req_9")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(529)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	}), func(c *gateway.SessionConfig) { c.MaxFailures = 2 })
	first, second, third := clients[0].ask(t, s.Endpoint, true), clients[0].ask(t, s.Endpoint, true), clients[0].ask(t, s.Endpoint, true)
	if first.status != 529 || first.header.Get("Request-Id") != "req_9" || first.header.Get("Retry-After") != "7" || !strings.Contains(first.body, "Overloaded") {
		t.Errorf("the first: %+v", first)
	}
	if !over(second) || second.header.Get("Request-Id") != "req_9" || second.header.Get("Retry-After") != "" {
		t.Errorf("the last: %+v", second)
	}
	if !over(third) {
		t.Errorf("after it: %+v", third)
	}
}

// Pi and opencode look at an error's words, not only at its status.
func TestTheLastAnswerHasNoWordThatMeansTryAgain(t *testing.T) {
	t.Parallel()
	again := regexp.MustCompile(`(?i)\d{3}|overload|rate.?limit|too many|retry|again|quota|unavailable|server.?error|internal|network|connect|fetch|socket|timed? ?out|terminated|` +
		`too (long|large)|context|token|exceed|maximum|reduce`)
	server := modeltest.Start(t, modeltest.Config{Key: "another"})
	for _, c := range clients {
		s := open(t, start(t, gateway.Config{}), server.URL)
		got := c.ask(t, s.Endpoint, true)
		message := regexp.MustCompile(`"message":"[^"]*"`).FindString(got.body)
		if !over(got) || message == "" || again.MatchString(message) {
			t.Errorf("%s: %d %s", c.api, got.status, got.body)
		}
	}
}

func TestAGoodAnswerResetsTheFailureCount(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Turn{Say: "ok", Fault: modeltest.Fault{Kind: modeltest.ServerError, Times: 2}}))
	s := open(t, start(t, gateway.Config{}), server.URL)
	for _, want := range []agent.FailureCode{agent.ModelFailed, agent.ModelFailed, ""} {
		clients[0].ask(t, s.Endpoint, true)
		if code(s) != want {
			t.Errorf("Failure = %q, want %q", code(s), want)
		}
	}
}

func TestAnAnswerThatBreaksOffIsCountedAsFarAsItCame(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("twelve bytes", 100) // in pieces of 12 bytes, which are 3 tokens
	for _, kind := range []modeltest.Kind{modeltest.Cut, modeltest.Ended, modeltest.Stalled} {
		for _, c := range clients {
			t.Run(fmt.Sprint(c.api, kind), func(t *testing.T) {
				t.Parallel()
				server := modeltest.Start(t, script(modeltest.Turn{Say: text, Fault: modeltest.Fault{Kind: kind, Events: 30}}))
				config := gateway.Config{}
				if kind == modeltest.Stalled {
					config.Idle = 5 * time.Second // more than ever lies between two events of a busy machine
				}
				s := open(t, start(t, config), server.URL, func(c *gateway.SessionConfig) { c.MaxFailures = 1 })
				got := c.ask(t, s.Endpoint, true)
				if got.broken == nil {
					t.Error("the agent saw a whole answer")
				}
				next := c.ask(t, s.Endpoint, true)
				s.Close()
				if code(s) != agent.Unreachable || !over(next) {
					t.Errorf("Failure = %+v, next %+v", s.Failure(), next)
				}
				usage, guessed := s.Report().Usage, s.Report().Estimated
				if c.api == modeltest.Gemini { // tells all in every event
					if usage.InputTokens != 1200 || usage.OutputTokens != 30 || guessed != 0 {
						t.Errorf("Report = %+v", s.Report())
					}
					return
				}
				if usage.OutputTokens < 25*3 || usage.OutputTokens > 31*3 || guessed < 25*3 {
					t.Errorf("Report = %+v", s.Report())
				}
				if reported := c.api == modeltest.Anthropic; reported != (usage.InputTokens == 1200) || usage.InputTokens == 0 {
					t.Errorf("Report = %+v", s.Report())
				}
			})
		}
	}
}

func TestAnAnswerThatTheAgentSawBreakIsAFailureEvenIfAllWasSaid(t *testing.T) {
	t.Parallel()
	for end, want := range map[string]agent.FailureCode{"": agent.Unreachable, "data: [DONE]\n\n": ""} {
		s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"finish_reason":"stop"}]}`+"\n\n"+end)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}))
		clients[2].ask(t, s.Endpoint, true)
		s.Close()
		if code(s) != want {
			t.Errorf("after %q: %q, want %q", end, code(s), want)
		}
	}
}

func TestAClosedPortIsUnreachable(t *testing.T) {
	t.Parallel()
	s := open(t, start(t, gateway.Config{}), "http://127.0.0.1:1")
	first := clients[1].ask(t, s.Endpoint, true)
	clients[1].ask(t, s.Endpoint, true)
	last := clients[1].ask(t, s.Endpoint, true)
	if first.status != http.StatusBadGateway || !over(last) || code(s) != agent.Unreachable || !strings.Contains(s.Failure().Message, "server 127.0.0.1:1 cannot be reached") {
		t.Errorf("%+v, %+v, %+v", first, last, s.Failure())
	}
}

func TestAServerThatNeverBeginsIsGivenUp(t *testing.T) {
	t.Parallel()
	s := open(t, start(t, gateway.Config{HeaderTimeout: 50 * time.Millisecond}),
		upstream(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }))
	if got := clients[0].ask(t, s.Endpoint, true); got.status != http.StatusBadGateway || !strings.Contains(s.Failure().Message, "said nothing for too long") {
		t.Errorf("%+v, %+v", got, s.Failure())
	}
}

func TestAnAgentThatGoesIsNoFailure(t *testing.T) {
	t.Parallel()
	ended := make(chan modeltest.Exchange, 2)
	config := script(modeltest.Turn{Say: "a word", Fault: modeltest.Fault{Kind: modeltest.Stalled, Events: 2}})
	config.Observe = func(x modeltest.Exchange) {
		if x.End != "" {
			ended <- x
		}
	}
	server := modeltest.Start(t, config)
	s := open(t, start(t, gateway.Config{}), server.URL)
	response, err := transport(t).RoundTrip(clients[0].request(t, s.Endpoint, true))
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(response.Body); lines.Scan() && !strings.HasPrefix(lines.Text(), "data:"); {
	}
	_ = response.Body.Close()
	if x := <-ended; x.End != modeltest.Gone {
		t.Errorf("upstream's answer ended %s", x.End)
	}
	s.Close()
	if s.Failure() != nil || s.Report().Usage.InputTokens != 1200 {
		t.Errorf("Failure = %+v, Report = %+v", s.Failure(), s.Report())
	}
}
