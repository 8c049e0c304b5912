package modeltest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
)

// noon is the clock's time in all tests that look at it.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func failing(t *testing.T, fault modeltest.Fault) *modeltest.Server {
	t.Helper()
	turn := modeltest.Say("The sentence is long enough to be streamed in some pieces.")
	turn.Fault = fault
	return modeltest.Start(t, modeltest.Config{Clock: func() time.Time { return noon }, Script: modeltest.Script{Turns: []modeltest.Turn{turn}}})
}

func TestErrorsAreReportedInTheVendorsWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind   modeltest.Kind
		status [4]int // of the clients, in their order
		words  [4]string
	}{
		{modeltest.Unauthorized, [4]int{401, 401, 401, 401}, [4]string{"authentication_error", "invalid_api_key", "invalid_api_key", "UNAUTHENTICATED"}},
		{modeltest.Forbidden, [4]int{403, 403, 403, 403}, [4]string{"permission_error", "model_not_found", "model_not_found", "PERMISSION_DENIED"}},
		{modeltest.RateLimited, [4]int{429, 429, 429, 429}, [4]string{"rate_limit_error", "rate_limit_exceeded", "rate_limit_exceeded", "PerMinute"}},
		{modeltest.UsageLimited, [4]int{429, 429, 429, 429}, [4]string{"rate_limit_error", `"resets_in_seconds":90`, "insufficient_quota", "PerDay"}},
		{modeltest.ServerError, [4]int{500, 500, 500, 500}, [4]string{"api_error", "server_error", "server_error", "INTERNAL"}},
		{modeltest.Overloaded, [4]int{529, 503, 503, 503}, [4]string{"overloaded_error", "server_is_overloaded", "server_is_overloaded", "UNAVAILABLE"}},
		{modeltest.Overflow, [4]int{400, 400, 400, 400}, [4]string{"prompt is too long", "context_length_exceeded", "context_length_exceeded", "exceeds the maximum number of tokens"}},
	} {
		server := failing(t, modeltest.Fault{Kind: test.kind, RetryAfter: 90 * time.Second})
		inStream := failing(t, modeltest.Fault{Kind: test.kind, RetryAfter: 90 * time.Second, InStream: true, Events: 1})
		for i, c := range clients {
			for _, stream := range both {
				response := c.ask(t, server.URL, "Go.", nil, stream)
				body, _ := io.ReadAll(response.Body)
				if response.StatusCode != test.status[i] || !bytes.Contains(body, []byte(test.words[i])) || !json.Valid(body) {
					t.Errorf("%s, %s: %d %s, want %d and %q", c.api, test.kind, response.StatusCode, body, test.status[i], test.words[i])
				}
			}
			response := c.ask(t, inStream.URL, "Go.", nil, true)
			body, err := io.ReadAll(response.Body)
			if test.kind == modeltest.UsageLimited && c.api == modeltest.Responses {
				test.words[i] = "insufficient_quota" // of a plan it tells before the stream only
			}
			begun, told, _ := bytes.Cut(body, []byte("\n\n"))
			start := max(0, bytes.IndexByte(told, '{'))
			told, bare := told[start:], start == 0
			if err != nil || response.StatusCode != http.StatusOK || len(events(begun)) != 1 || bare != (c.api == modeltest.Gemini) ||
				!json.Valid(told) || !bytes.Contains(told, []byte(test.words[i])) {
				t.Errorf("%s, %s in a stream: %d, %v: %s", c.api, test.kind, response.StatusCode, err, body)
			}
		}
	}
}

func TestLimitsSayWhenTheyEnd(t *testing.T) {
	t.Parallel()
	minute := failing(t, modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: 90 * time.Second})
	dated := failing(t, modeltest.Fault{Kind: modeltest.RateLimited, RetryAfter: 90 * time.Second, AsDate: true})
	silent := failing(t, modeltest.Fault{Kind: modeltest.RateLimited})
	plan := failing(t, modeltest.Fault{Kind: modeltest.UsageLimited, RetryAfter: 90 * time.Second})
	for i, c := range clients {
		for _, test := range []struct {
			server *modeltest.Server
			header string
			want   [4]string
		}{
			{minute, "Retry-After", [4]string{"90", "90", "90", "90"}},
			{dated, "Retry-After", [4]string{"Fri, 20 Nov 2026 12:01:30 GMT", "Fri, 20 Nov 2026 12:01:30 GMT", "Fri, 20 Nov 2026 12:01:30 GMT", "Fri, 20 Nov 2026 12:01:30 GMT"}},
			{silent, "Retry-After", [4]string{}},
			{minute, "Anthropic-Ratelimit-Requests-Reset", [4]string{0: "2026-11-20T12:01:30Z"}},
			{minute, "X-Ratelimit-Reset-Tokens", [4]string{1: "90s", 2: "90s"}},
			{plan, "Anthropic-Ratelimit-Unified-Reset", [4]string{0: "1795176090"}},
			{plan, "X-Codex-Primary-Reset-After-Seconds", [4]string{1: "90", 2: "90"}},
		} {
			if got := c.ask(t, test.server.URL, "Go.", nil, true).Header.Get(test.header); got != test.want[i] {
				t.Errorf("%s: %s is %q, want %q", c.api, test.header, got, test.want[i])
			}
		}
	}
	body, _ := io.ReadAll(clients[3].ask(t, minute.URL, "Go.", nil, true).Body)
	if !bytes.Contains(body, []byte(`"retryDelay":"90s"`)) {
		t.Errorf("Gemini's details are %s", body)
	}
}

func TestAFaultIsOverAfterItsTimes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		server := failing(t, modeltest.Fault{Kind: modeltest.RateLimited, Times: 2})
		for attempt, want := range []int{429, 429, 200, 200} {
			if got := c.ask(t, server.URL, "Go.", nil, stream).StatusCode; got != want {
				t.Errorf("attempt %d: %d, want %d", attempt+1, got, want)
			}
		}
		if got := c.ask(t, server.URL, "Another prompt.", nil, stream).StatusCode; got != http.StatusTooManyRequests {
			t.Errorf("another prompt: %d", got)
		}
		if got := c.ask(t, server.URL+"/another-session", "Go.", nil, stream).StatusCode; got != http.StatusTooManyRequests {
			t.Errorf("another session: %d", got)
		}
	})
}

func TestAStalledAnswerIsSilentUntilTheAgentGoes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		ended := make(chan modeltest.Exchange, 1)
		turn := modeltest.Say("The sentence is long enough to be streamed in some pieces.")
		turn.Fault = modeltest.Fault{Kind: modeltest.Stalled, Events: 1}
		server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{turn}}, Observe: func(x modeltest.Exchange) {
			if x.End != "" {
				ended <- x
			}
		}})
		response := c.ask(t, server.URL, "Go.", nil, stream)
		if n, err := response.Body.Read(make([]byte, 1)); n != 1 || response.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v", response.StatusCode, err)
		}
		select {
		case x := <-ended:
			t.Fatalf("the answer ended by itself: %+v", x)
		default:
		}
		_ = response.Body.Close()
		select {
		case x := <-ended:
			if x.End != modeltest.Gone || x.Fault != modeltest.Stalled {
				t.Errorf("Exchange = %+v", x)
			}
		case <-time.After(2 * time.Minute):
			t.Error("the server did not see that the agent is gone")
		}
	})
}

func TestACutAnswerIsAnErrorAndAnEndedOneIsNot(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c client, stream bool) {
		cut := failing(t, modeltest.Fault{Kind: modeltest.Cut, Events: 1})
		body, err := io.ReadAll(c.ask(t, cut.URL, "Go.", nil, stream).Body)
		if !errors.Is(err, syscall.ECONNRESET) || len(body) == 0 {
			t.Errorf("cut: %v after %q", err, body)
		}
		ended := failing(t, modeltest.Fault{Kind: modeltest.Ended, Events: 1})
		body, err = io.ReadAll(c.ask(t, ended.URL, "Go.", nil, stream).Body)
		if whole := !stream && json.Valid(body) || stream && bytes.Contains(body, []byte(c.last)); err != nil || len(body) == 0 || whole {
			t.Errorf("ended: %v after %q", err, body)
		}
		for _, server := range []*modeltest.Server{cut, ended} {
			if x := server.Answers()[0]; x.End != modeltest.Broken || x.Status != http.StatusOK {
				t.Errorf("Exchange = %+v", x)
			}
		}
	})
}

func TestOneEventOfAMalformedStreamIsNoJSON(t *testing.T) {
	t.Parallel()
	server := failing(t, modeltest.Fault{Kind: modeltest.Malformed, Events: 2})
	for _, c := range clients {
		body, _ := io.ReadAll(c.ask(t, server.URL, "Go.", nil, true).Body)
		for i, data := range events(body) {
			if valid := json.Valid(data) || string(data) == "[DONE]"; valid == (i == 2) {
				t.Errorf("%s: event %d is %s", c.api, i, data)
			}
		}
		if !strings.Contains(string(body), c.last) {
			t.Errorf("%s: the rest is missing: %s", c.api, body)
		}
	}
}

func TestASlowStreamPausesBeforeEveryEvent(t *testing.T) {
	t.Parallel()
	turn := modeltest.Say("Some words that take their time.")
	turn.Fault = modeltest.Fault{Kind: modeltest.Slow, Delay: time.Minute}
	for _, c := range clients {
		var pauses atomic.Int64
		server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{turn}}, Pause: func(_ context.Context, d time.Duration) error {
			pauses.Add(int64(d / time.Minute))
			return nil
		}})
		heard := c.hear(t, c.ask(t, server.URL, "Go.", nil, true), true)
		if heard.text != "Some words that take their time." || int64(heard.events) != pauses.Load() {
			t.Errorf("%s: %+v after %d pauses", c.api, heard, pauses.Load())
		}
	}
}
