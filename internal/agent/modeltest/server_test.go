package modeltest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"signalbox/internal/agent/modeltest"
)

func plain(http.Header) {}

func TestUnknownRequestsAreRefusedAndRecorded(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Do(modeltest.Run("make"))}}})
	if got := post(t, server.URL+"/api/telemetry", `{"event":"start"}`, plain); got.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown path: %d", got.StatusCode)
	}
	if got := post(t, server.URL+"/v1/messages", `{"messages":`, plain); got.StatusCode != http.StatusBadRequest {
		t.Errorf("half a request: %d", got.StatusCode)
	}
	if got := clients[0].ask(t, server.URL, "Go.", nil, true); got.StatusCode != http.StatusBadRequest {
		t.Errorf("a tool that is not offered: %d", got.StatusCode)
	}
	unexpected := server.Unexpected()
	if len(unexpected) != 3 || unexpected[0].Path != "/api/telemetry" || string(unexpected[0].Body) != `{"event":"start"}` ||
		!strings.Contains(unexpected[2].Problem, `run a command: no tool for it among ["Write"]`) {
		t.Errorf("Unexpected = %+v", unexpected)
	}
}

func TestOnlyTheRightKeyIsAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range clients {
		server := modeltest.Start(t, modeltest.Config{Key: "key-of-" + string(c.api)})
		if got := c.ask(t, server.URL, "Go.", nil, true).StatusCode; got != http.StatusOK {
			t.Errorf("%s: the right key: %d", c.api, got)
		}
		if got := post(t, server.URL+c.path, c.request(c.messages("Go.", nil), false), plain).StatusCode; got != http.StatusUnauthorized {
			t.Errorf("%s: no key: %d", c.api, got)
		}
	}
	server := modeltest.Start(t, modeltest.Config{})
	c := clients[3]
	post(t, server.URL+c.path+"?key=in-the-query", c.request(c.messages("Go.", nil), false), plain)
	if got := server.Answers()[0].Key; got != "in-the-query" {
		t.Errorf("Key = %q", got)
	}
}

func TestTokensAreCountedAndModelsListed(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{})
	for path, want := range map[string]string{
		"/v1/messages/count_tokens":        `{"input_tokens":11}`,
		"/v1beta/models/m:countTokens?x=1": `{"totalTokens":11}`,
	} {
		body, _ := io.ReadAll(post(t, server.URL+path, strings.Repeat("x", 40), plain).Body)
		if got := strings.TrimSpace(string(body)); got != want {
			t.Errorf("%s = %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/v1/models", "/v1beta/models"} {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), modeltest.Model) {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
}

func TestUsageIsReportedInEveryAPI(t *testing.T) {
	t.Parallel()
	turn := modeltest.Say("Hi.")
	turn.Usage = modeltest.Usage{Input: 7000, Cached: 6001, Output: 43}
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{turn}}})
	words := [4][]string{{`"input_tokens":999`, `"cache_read_input_tokens":6001`, `"output_tokens":43`}, {`"input_tokens":7000`, `"cached_tokens":6001`, `"output_tokens":43`},
		{`"prompt_tokens":7000`, `"cached_tokens":6001`, `"completion_tokens":43`}, {`"promptTokenCount":7000`, `"cachedContentTokenCount":6001`, `"candidatesTokenCount":43`}}
	for i, c := range clients {
		for _, stream := range both {
			body, _ := io.ReadAll(c.ask(t, server.URL, "Go.", nil, stream).Body)
			for _, want := range words[i] {
				if !strings.Contains(string(body), want) {
					t.Errorf("%s: no %s in %s", c.api, want, body)
				}
			}
		}
	}
}

func TestAThousandExchangesAreKeptAndAllAreCounted(t *testing.T) {
	t.Parallel()
	server := modeltest.New(modeltest.Config{})
	for i := range 1003 {
		server.ServeHTTP(discard{}, request(t, fmt.Sprintf("/%d", i), strings.Repeat("x", 200<<10)))
	}
	kept := server.Exchanges()
	if server.Count() != 1003 || len(kept) != 1000 || kept[999].Path != "/999" || len(kept[0].Body) != 128<<10 || kept[0].Size != 200<<10 {
		t.Errorf("%d counted, %d kept; the first has %d of %d bytes", server.Count(), len(kept), len(kept[0].Body), kept[0].Size)
	}
}

func request(t *testing.T, path, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestARequestForJSONGetsJSON(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Script: modeltest.Script{Turns: []modeltest.Turn{modeltest.Say("Words.")}}})
	const asked = `{"contents": [{"role": "user", "parts": [{"text": "Which model?"}]}], "generationConfig": {"responseMimeType": "application/json",
		"responseJsonSchema": {"properties": {"why": {"type": "STRING"}, "score": {"type": "integer"}, "model": {"type": "string", "enum": ["flash", "pro"]},
		"else": {"type": "string"}}, "required": ["why", "score", "model"]}}}`
	response, err := http.Post(server.URL+"/v1beta/models/m1:generateContent", "application/json", strings.NewReader(asked))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Candidates []struct {
			Content struct {
				Parts []struct{ Text string }
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Candidates) != 1 {
		t.Fatal(err, answer)
	}
	const want = `{"model":"flash","score":1,"why":"as scripted"}`
	if got := answer.Candidates[0].Content.Parts; len(got) != 1 || got[0].Text != want {
		t.Errorf("got %+v, want %s", got, want)
	}
}
