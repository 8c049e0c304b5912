package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

// raw sends what no client library would, and returns the status of the answer.
func raw(t *testing.T, address, text string) int {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, text) }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	return response.StatusCode
}

func TestOnlyAnAgentWithItsOwnEndpointIsServed(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Key: realKey})
	g := start(t, gateway.Config{})
	s, other := open(t, g, server.URL), open(t, g, server.URL)
	address, token, _ := strings.Cut(strings.TrimPrefix(s.Endpoint.URL, "http://"), "/")
	key := "X-Api-Key: " + s.Endpoint.Key + "\r\n"
	host := "Host: " + address + "\r\n"
	body := "Content-Length: 13\r\n\r\n" + `{"model":"m"}`
	post := func(path string) string { return "POST " + path + " HTTP/1.1\r\n" }
	for _, test := range []struct {
		name, request string
		want          int
	}{
		{"another token", post("/"+strings.Repeat("A", 43)+"/v1/messages") + host + key + body, 404},
		{"no token", post("/v1/messages") + host + key + body, 404},
		{"no key", post("/"+token+"/v1/messages") + host + body, 401},
		{"another session's key", post("/"+token+"/v1/messages") + host + "X-Api-Key: " + other.Endpoint.Key + "\r\n" + body, 401},
		{"the real key", post("/"+token+"/v1/messages") + host + "X-Api-Key: " + realKey + "\r\n" + body, 401},
		{"a path that leads elsewhere", post("/"+token+"/v1/messages/../../admin") + host + key + body, 404},
		{"the same, encoded", post("/"+token+"/v1/%2e%2e/messages") + host + key + body, 404},
		{"an encoded path of its own", post("/"+token+"/v1/%6dessages") + host + key + body, 404},
		{"a model that leads elsewhere", "GET /" + token + "/v1/models/.. HTTP/1.1\r\n" + host + key + body, 404},
		{"an API that agents have no use for", "GET /" + token + "/v1/files HTTP/1.1\r\n" + host + key + body, 404},
		{"another method", "DELETE /" + token + "/v1/messages HTTP/1.1\r\n" + host + key + body, 404},
		{"an absolute address", post("http://"+address+"/"+token+"/v1/messages") + host + key + body, 400},
		{"CONNECT", "CONNECT example.com:443 HTTP/1.1\r\n" + host + "\r\n", 400},
		{"another host", post("/"+token+"/v1/messages") + "Host: evil.example\r\n" + key + body, 421},
		{"localhost, as a page might call it", post("/"+token+"/v1/messages") + "Host: localhost\r\n" + key + body, 421},
		{"two hosts", post("/"+token+"/v1/messages") + host + "Host: evil.example\r\n" + key + body, 400},
		{"an origin", post("/"+token+"/v1/messages") + host + "Origin: http://" + address + "\r\n" + key + body, 403},
		{"a web socket", post("/"+token+"/v1/responses") + host + "Connection: upgrade\r\nUpgrade: websocket\r\n" + key + body, 400},
		{"a huge header", post("/"+token+"/v1/messages") + host + key + "X: " + strings.Repeat("x", 1<<20) + "\r\n" + body, 431},
		{"two lengths", post("/"+token+"/v1/messages") + host + key + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		{"no JSON", post("/"+token+"/v1/messages") + host + key + "Content-Length: 0\r\n\r\n", 400},
		{"a key twice", post("/"+token+"/v1/messages") + host + key + "Content-Length: 23\r\n\r\n" + `{"model":1, "model":"m"}`[:23], 400},
		{"in the background", post("/"+token+"/v1/responses") + host + key + "Content-Length: 31\r\n\r\n" + `{"model":"m","background":true}`, 400},
		{"too much", post("/"+token+"/v1/responses") + host + key + "Content-Length: 67108865\r\n\r\n", 413},
		{"compressed", post("/"+token+"/v1/responses") + host + key + "Content-Encoding: zstd\r\n" + body, 400},
	} {
		if got := raw(t, address, test.request); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	if server.Count() != 0 {
		t.Errorf("upstream saw %+v", server.Exchanges())
	}
	if got := clients[0].ask(t, s.Endpoint, true).status; got != http.StatusOK {
		t.Errorf("after all that the agent itself: %d", got)
	}
	s.Close()
	if got := clients[0].ask(t, s.Endpoint, true).status; got != http.StatusGone {
		t.Errorf("after Close: %d", got)
	}
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func TestNoUpstreamAnswerRevealsTheKey(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"in a header": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Debug", "key "+realKey) },
		"in an error": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"type":"authentication_error","message":"wrong: `+realKey+`"}}`, http.StatusUnauthorized)
		},
		"in an objection": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"bad `+realKey+`"}}`, http.StatusBadRequest)
		},
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			for i := range realKey {
				_, _ = io.WriteString(w, realKey[i:i+1])
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, " sk-re")
		},
		"in a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://evil.example/?key="+realKey, http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log journal
			g := start(t, gateway.Config{Logger: slog.New(slog.NewJSONHandler(&log, nil))})
			s := open(t, g, upstream(t, handler))
			got := clients[0].ask(t, s.Endpoint, true)
			s.Close()
			seen := fmt.Sprint(got, s.Failure(), s.Report(), log.text.String())
			if strings.Contains(seen, realKey) || strings.Contains(seen, "evil.example") {
				t.Error(seen)
			}
			if name == "in pieces" && got.body != "[key] sk-re" {
				t.Errorf("body = %q", got.body)
			}
			if name == "in a redirect" && (got.status != http.StatusBadRequest || code(s) != agent.Refused) {
				t.Errorf("a redirect: %d, %s", got.status, code(s))
			}
		})
	}
}

func TestAnAddressThatWouldGiveTheKeyAwayIsRefused(t *testing.T) {
	t.Parallel()
	g := start(t, gateway.Config{})
	for address, right := range map[string]bool{
		"https://api.anthropic.com": true, "https://gateway.example/anthropic/v1": true, "http://127.0.0.1:1/x": true, "http://[::1]:1": true, "http://localhost:1": true,
		"http://api.anthropic.com": false, "https://user:secret@host": false, "https://host/?key=1": false, "ftp://host": false, "api.anthropic.com": false, "http://127.0.0.1.evil.example": false, "": false, "https://host:x:y": false,
	} {
		_, err := g.Open(gateway.SessionConfig{Upstream: address})
		if (err == nil) != right || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q) = %v", address, err)
		}
	}
	if _, err := g.Open(gateway.SessionConfig{Upstream: "http://inside.example", Insecure: true}); err != nil {
		t.Error(err)
	}
	if _, err := gateway.New(gateway.Config{}).Open(gateway.SessionConfig{Upstream: "https://host"}); err == nil {
		t.Error("a session was opened before Start")
	}
}
