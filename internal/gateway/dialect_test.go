package gateway_test

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

var prices = map[string]gateway.Price{"m": {Input: 3, Cached: 0.3, Output: 15}}

func priced(c *gateway.SessionConfig) { c.Prices = prices }

func TestAnswersPassAsTheyAreAndAreCounted(t *testing.T) {
	t.Parallel()
	still := func() time.Time { return time.Unix(1_800_000_000, 0) }
	for _, c := range clients {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %t", c.api, stream), func(t *testing.T) {
				t.Parallel()
				config := script(modeltest.Say(strings.Repeat("All is well. ", 50)))
				config.Clock = still
				direct, behind := modeltest.Start(t, config), modeltest.Start(t, config)
				s := open(t, start(t, gateway.Config{Clock: still}), behind.URL, priced)
				want := c.ask(t, agent.Endpoint{URL: direct.URL, Key: realKey}, stream)
				got := c.ask(t, s.Endpoint, stream)
				if got.status != http.StatusOK || got.body != want.body || got.broken != nil {
					t.Fatalf("through the gateway: %d, %v\n%s\nwant\n%s", got.status, got.broken, got.body, want.body)
				}
				s.Close()
				// 1000 input at $3, 200 cached at $0.3, 30 output at $15 per million.
				usage := agent.Usage{InputTokens: 1200, CachedTokens: 200, OutputTokens: 30, CostUSD: 0.00351}
				report := s.Report()
				if report.Usage != usage || report.Models["m"] != usage || report.Requests != 1 || report.Estimated != 0 || report.Unpriced != nil {
					t.Errorf("Report = %+v", report)
				}
				if !report.First.Equal(still()) || !report.Last.Equal(still()) || s.Failure() != nil {
					t.Errorf("Report = %+v, Failure = %v", report, s.Failure())
				}
			})
		}
	}
}

func TestUpstreamGetsTheRealKeyAndNothingElseOfTheAgents(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		server := modeltest.Start(t, script(modeltest.Say("ok")))
		s := open(t, start(t, gateway.Config{}), server.URL)
		r := c.request(t, s.Endpoint, true)
		r.Header.Set("Cookie", "a=b")
		r.Header.Set("X-Http-Method-Override", "DELETE")
		r.Header.Set("X-Goog-Iam-Authorization-Token", "another account's")
		r.Header.Set("X-Amz-Security-Token", "another account's")
		r.Header.Set("Anthropic-Beta", "kept")
		r.URL.RawQuery += "&access_token=another"
		if got := send(t, r); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.api, got.status, got.body)
		}
		x := server.Answers()[0]
		all := strings.Join(x.Headers, " ")
		if x.Key != realKey || strings.Contains(all, "Cookie") || strings.Contains(all, "Override") || strings.Contains(all, "Token") {
			t.Errorf("%s: key %q, headers %s", c.api, x.Key, all)
		}
		if !strings.Contains(all, "Anthropic-Beta") {
			t.Errorf("%s: a vendor's own header is missing: %s", c.api, all)
		}
	}
}

func TestAKeyInTheQueryGoesOnInAHeader(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 1)
	s := open(t, start(t, gateway.Config{}), upstream(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r }))
	r := clients[3].request(t, s.Endpoint, true)
	r.Header.Del("x-goog-api-key")
	r.URL.RawQuery += "&key=" + s.Endpoint.Key
	send(t, r)
	if got := <-seen; got.URL.RawQuery != "alt=sse" || got.Header.Get("X-Goog-Api-Key") != realKey {
		t.Errorf("upstream got query %q and key %q", got.URL.RawQuery, got.Header.Get("X-Goog-Api-Key"))
	}
}

func TestAChatStreamIsAskedForItsUsage(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL)
	for i, test := range []struct{ body, want string }{
		{`{"model":"m","stream":true,"messages":[{"role":"user","content":"1"}]}`, `"stream_options":{"include_usage":true}`},
		{`{"model":"m","stream":true,"stream_options":{"x":1},"messages":[]}`, `"stream_options":{"include_usage":true,"x":1}`},
		{`{"model":"m","stream":true,"stream_options":null,"messages":[]}`, `"stream_options":{"include_usage":true}`},
		{`{"model":"m", "stream":true,"stream_options":{"include_usage": true},"messages":[]}`, `{"model":"m", "stream":true,`},
		{`{"model":"m", "messages":[{"role":"user","content":"\ud83d"}]}`, `{"model":"m", "messages":[{"role":"user","content":"\ud83d"}]}`},
	} {
		c := clients[2]
		c.streamBody = test.body
		if got := c.ask(t, s.Endpoint, true); got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", test.body, got.status, got.body)
		}
		if got := string(server.Exchanges()[i].Body); !strings.Contains(got, test.want) {
			t.Errorf("%s became %s", test.body, got)
		}
	}
}

func TestCompressedAnswersAreReadAllTheSame(t *testing.T) {
	t.Parallel()
	const plain = `{"type":"message","model":"m","usage":{"input_tokens":5,"output_tokens":7}}`
	s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("Accept-Encoding = %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_7")
		z := gzip.NewWriter(w)
		_, _ = z.Write([]byte(plain))
		_ = z.Close()
	}))
	got := clients[0].ask(t, s.Endpoint, false)
	if got.body != plain || got.header.Get("Content-Encoding") != "" || got.header.Get("Request-Id") != "req_7" {
		t.Errorf("%q, %v", got.body, got.header)
	}
	s.Close()
	if u := s.Report().Usage; u.InputTokens != 5 || u.OutputTokens != 7 || s.Report().Unpriced[0] != "m" {
		t.Errorf("Report = %+v", s.Report())
	}
}

func TestGeminiStreamsWithoutEventsAreCounted(t *testing.T) {
	t.Parallel()
	s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`[{"candidates":[{"content":{"parts":[{"text":"a \"}]"}]}}],"usageMetadata":{"promptTokenCount":10}},` + "\n"))
		_, _ = w.Write([]byte(`{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":4,"toolUsePromptTokenCount":2}}]`))
	}))
	clients[3].ask(t, s.Endpoint, true)
	s.Close()
	if u := s.Report().Usage; u.InputTokens != 12 || u.OutputTokens != 7 || s.Report().Estimated != 0 || s.Failure() != nil {
		t.Errorf("Report = %+v, %v", s.Report(), s.Failure())
	}
}

func TestModelsAreListedAndTokensCountedForNothing(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Key: realKey})
	s := open(t, start(t, gateway.Config{}), server.URL+"/some/where", func(c *gateway.SessionConfig) { c.Budget.Requests = 1 })
	for _, call := range []string{"GET /v1/models", "GET /v1beta/models?pageSize=5", "POST /v1/messages/count_tokens", "POST /v1beta/models/m:countTokens"} {
		method, path, _ := strings.Cut(call, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, s.Endpoint.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("x-api-key", s.Endpoint.Key)
		if got := send(t, r); got.status != http.StatusOK || got.broken != nil {
			t.Errorf("%s: %d %s", call, got.status, got.body)
		}
	}
	if x := server.Exchanges()[0]; x.Path != "/some/where/v1/models" || s.Report().Requests != 0 || s.Report().Usage != (agent.Usage{}) {
		t.Errorf("path %s, Report %+v", x.Path, s.Report())
	}
}
