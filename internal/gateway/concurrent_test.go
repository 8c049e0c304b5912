package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

func TestAHundredSessionsAtOnceAreKeptApart(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Key: realKey, Choose: func(c modeltest.Conversation) modeltest.Script {
		return modeltest.Script{Turns: []modeltest.Turn{{Say: c.Model, Usage: modeltest.Usage{Input: int64(len(c.Model)), Output: 1}}}}
	}})
	g := start(t, gateway.Config{})
	var asking sync.WaitGroup
	for i := range 100 {
		asking.Go(func() {
			c := clients[2]
			model := strings.Repeat("m", i+1)
			c.streamBody = strings.Replace(c.streamBody, `"model":"m"`, `"model":"`+model+`"`, 1)
			s := open(t, g, server.URL)
			for range 3 {
				if got := c.ask(t, s.Endpoint, true); got.status != http.StatusOK || !strings.Contains(got.body, model) {
					t.Errorf("session %d: %+v", i, got)
				}
			}
			s.Close()
			if want := (agent.Usage{InputTokens: int64(3 * len(model)), OutputTokens: 3}); s.Report().Models[model] != want {
				t.Errorf("session %d: %+v", i, s.Report())
			}
		})
	}
	asking.Wait()
}

func TestASlowReaderDoesNotBlockOtherAgents(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Key: realKey, Choose: func(c modeltest.Conversation) modeltest.Script {
		return modeltest.Script{Turns: []modeltest.Turn{modeltest.Say(strings.Repeat("x", len(c.Prompt)<<20))}}
	}})
	g := start(t, gateway.Config{})
	slow, quick := open(t, g, server.URL), open(t, g, server.URL)
	c := clients[0]
	c.streamBody = strings.Replace(c.streamBody, "Go.", strings.Repeat("x", 24), 1) // 24 MiB
	response, err := transport(t).RoundTrip(c.request(t, slow.Endpoint, true))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := clients[0].ask(t, quick.Endpoint, true); got.status != http.StatusOK || got.broken != nil {
			t.Errorf("%d, %v", got.status, got.broken)
		}
	}
	slow.Close() // would wait for ever for an agent that does not read
	if n, err := io.Copy(io.Discard, response.Body); err == nil {
		t.Errorf("the stream ended well after %d bytes", n)
	}
	_ = response.Body.Close()
}

func TestRequestsAtTheSameTimeAreBounded(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 20)
	release := make(chan struct{})
	s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(w, `{"type":"message"}`)
	}))
	answers := make(chan answer, 16)
	for range 16 {
		go func() { answers <- clients[0].ask(t, s.Endpoint, false) }()
	}
	for range 16 {
		<-arrived
	}
	if got := clients[0].ask(t, s.Endpoint, false); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("the seventeenth: %d %s %v", got.status, got.body, got.header)
	}
	close(release)
	for range 16 {
		if got := <-answers; got.status != http.StatusOK {
			t.Errorf("one of sixteen: %d %s", got.status, got.body)
		}
	}
	if s.Failure() != nil {
		t.Errorf("Failure = %+v", s.Failure())
	}
}

func TestCloseAbortsRunningCallsAndCountsThem(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Turn{Say: "a word", Fault: modeltest.Fault{Kind: modeltest.Stalled, Events: 4}}))
	s := open(t, start(t, gateway.Config{}), server.URL)
	response, err := transport(t).RoundTrip(clients[0].request(t, s.Endpoint, true))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := response.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the stream ended well")
	}
	if s.Failure() != nil || s.Report().Usage.InputTokens != 1200 {
		t.Errorf("Failure = %+v, Report = %+v", s.Failure(), s.Report())
	}
}

// Such a client sees an error of the network, and tries again, when the connection closes too early.
func TestAnEndIsHeardByAgentsThatListenOnlyWhenAllIsSent(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Budget.Requests = 1 })
	clients[0].ask(t, s.Endpoint, true)
	if got := clients[0].ask(t, s.Endpoint, true); !over(got) {
		t.Fatalf("%+v", got)
	}
	c := clients[0]
	c.streamBody = strings.Replace(c.streamBody, "Go.", strings.Repeat("a lot ", 4<<20), 1) // 24 MiB
	r := c.request(t, s.Endpoint, true)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := r.Write(conn); err != nil {
		t.Fatal("send:", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("%d", response.StatusCode)
	}
}

func TestAStreamThatExceedsTheBudgetCutsTheOthersOfTheSession(t *testing.T) {
	t.Parallel()
	server := modeltest.Start(t, modeltest.Config{Key: realKey, Choose: func(c modeltest.Conversation) modeltest.Script {
		if c.Model == "slow" {
			return modeltest.Script{Turns: []modeltest.Turn{{Say: "a word", Fault: modeltest.Fault{Kind: modeltest.Stalled, Events: 4}}}}
		}
		return modeltest.Script{Turns: []modeltest.Turn{{Say: "ok", Usage: modeltest.Usage{Input: 10_000}}}} // more than it was reserved for
	}})
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Budget.Tokens = 10_000 })
	slow := clients[0]
	slow.streamBody = strings.Replace(slow.streamBody, `"model":"m"`, `"model":"slow"`, 1)
	response, err := transport(t).RoundTrip(slow.request(t, s.Endpoint, true))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := response.Body.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if got := clients[0].ask(t, s.Endpoint, true); got.broken == nil {
		t.Error("the stream that passed the budget ended well")
	}
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("the other ended well")
	}
}

func TestTheFirstCauseIsKept(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	s := open(t, start(t, gateway.Config{}), upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "slow") {
			arrived <- struct{}{}
			<-release
			http.Error(w, "", http.StatusPaymentRequired)
			return
		}
		http.Error(w, "", http.StatusUnauthorized)
	}))
	slow, later := clients[0], make(chan answer)
	slow.body = `{"model":"slow"}`
	go func() { later <- slow.ask(t, s.Endpoint, false) }()
	<-arrived
	first := clients[0].ask(t, s.Endpoint, false)
	close(release)
	if second := <-later; !over(first) || !over(second) || code(s) != agent.Unauthorized {
		t.Errorf("%+v, %+v, %+v", first, second, s.Failure())
	}
}
