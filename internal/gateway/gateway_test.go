package gateway_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

// realKey is the one that must never be seen on this side.
const realKey = "sk-real-0123456789abcdef"

// patience is for what must come; only a broken gateway needs it.
const patience = 2 * time.Minute

func start(t testing.TB, c gateway.Config) *gateway.Gateway {
	t.Helper()
	g := gateway.New(c)
	if err := g.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func open(t testing.TB, g *gateway.Gateway, upstream string, change ...func(*gateway.SessionConfig)) *gateway.Session {
	t.Helper()
	c := gateway.SessionConfig{Name: "test", Upstream: upstream, Key: realKey}
	for _, f := range change {
		f(&c)
	}
	s, err := g.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// upstream is a vendor that answers as handler does.
func upstream(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	return "http://" + listener.Addr().String()
}

// client speaks one dialect, as agents do.
type client struct {
	api modeltest.API
	// path and body are of a request that is not streamed; the others of one that is.
	path, body             string
	streamPath, streamBody string
	header                 string
	prefix                 string
}

const (
	messages = `"messages":[{"role":"user","content":"Go."}]`
	contents = `{"contents":[{"role":"user","parts":[{"text":"Go."}]}]}`
)

var clients = []client{
	{modeltest.Anthropic, "/v1/messages?beta=true", `{"model":"m","max_tokens":9,` + messages + `}`,
		"/v1/messages", `{"model":"m","max_tokens":9,"stream":true,` + messages + `}`, "x-api-key", ""},
	{modeltest.Responses, "/v1/responses", `{"model":"m","input":"Go."}`,
		"/v1/responses", `{"model":"m","stream":true,"input":"Go."}`, "Authorization", "Bearer "},
	{modeltest.Chat, "/v1/chat/completions", `{"model":"m",` + messages + `}`,
		"/v1/chat/completions", `{"model":"m","stream":true,` + messages + `}`, "Authorization", "Bearer "},
	{modeltest.Gemini, "/v1beta/models/m:generateContent", contents,
		"/v1beta/models/m:streamGenerateContent?alt=sse", contents, "x-goog-api-key", ""},
}

func (c client) request(t testing.TB, at agent.Endpoint, stream bool) *http.Request {
	t.Helper()
	path, body := c.path, c.body
	if stream {
		path, body = c.streamPath, c.streamBody
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(c.header, c.prefix+at.Key)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// answer is a response that was read whole. Broken is why that was not possible.
type answer struct {
	status int
	header http.Header
	body   string
	broken error
}

func send(t testing.TB, r *http.Request) answer {
	t.Helper()
	response, err := transport(t).RoundTrip(r)
	if err != nil {
		return answer{broken: err}
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(body), err}
}

func (c client) ask(t testing.TB, at agent.Endpoint, stream bool) answer {
	t.Helper()
	return send(t, c.request(t, at, stream))
}

func transport(t testing.TB) *http.Transport {
	own := &http.Transport{DisableCompression: true, ResponseHeaderTimeout: patience}
	t.Cleanup(own.CloseIdleConnections)
	return own
}

func script(turn modeltest.Turn) modeltest.Config {
	return modeltest.Config{Key: realKey, Script: modeltest.Script{Turns: []modeltest.Turn{turn}}}
}

func code(s *gateway.Session) agent.FailureCode {
	if f := s.Failure(); f != nil {
		return f.Code
	}
	return ""
}
