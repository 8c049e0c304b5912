package gateway_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/gateway"
)

func opened(t *testing.T, root string, tokens int64) *gateway.Ledger {
	t.Helper()
	l := ledger(root, tokens)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Each gateway with a ledger of its own is what a process is.
func TestProcessesShareADayHoweverManyAskAtOnce(t *testing.T) {
	t.Parallel()
	server, root := modeltest.Start(t, script(modeltest.Say("ok"))), t.TempDir()
	sessions := make([]*gateway.Session, 6)
	for i := range sessions {
		day := opened(t, root, 12_300) // ten answers
		sessions[i] = open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Shared = []gateway.Budget{day} })
	}
	var asking sync.WaitGroup
	for i := range 60 {
		asking.Go(func() { clients[0].ask(t, sessions[i%len(sessions)].Endpoint, true) })
	}
	asking.Wait()
	if server.Count() != 10 {
		t.Errorf("%d requests reached the vendor, want 10", server.Count())
	}
	for _, s := range sessions {
		if f := s.Failure(); f != nil && (f.Code != agent.DaySpent || !f.Until.Equal(noon.Truncate(24*time.Hour).Add(24*time.Hour))) {
			t.Errorf("a session ended with %+v", f)
		}
	}
}

// taking is a process that takes 600 of the 1000 tokens of a ledger.
func taking(t *testing.T, root string) (end io.Closer, kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), asProcess+"="+root)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "took <nil>\n" {
		t.Fatalf("the process said %q, %v", said, err)
	}
	ended := sync.OnceFunc(func() { _ = c.Wait() })
	t.Cleanup(func() { _ = in.Close(); ended() })
	return in, func() { _ = c.Process.Kill(); ended() }
}

func TestAKilledProcessesReservationCountsAsUsed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	_, kill := taking(t, root)
	l := opened(t, root, 1000)
	waiting := waiter(t.Context(), t, l, 500)
	select {
	case err := <-waiting:
		t.Fatalf("what another process holds was given away: %v", err)
	case <-time.After(10 * time.Millisecond): // no signal tells that it waits
	}
	kill()
	if err := <-waiting; err != nil { // alone, it may use what is left
		t.Errorf("after the kill: %v", err)
	}
	if _, err := l.Reserve(t.Context(), gateway.Ask{Least: gateway.Spending{Tokens: 401}}); !errors.Is(err, gateway.ErrSpent) || !strings.Contains(err.Error(), "400 of 1000 are left") {
		t.Errorf("what it had on its way is free: %v", err)
	}
}

func TestAReturnedReservationIsFreeForOthers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	in, _ := taking(t, root)
	l := opened(t, root, 1000)
	waiting := waiter(t.Context(), t, l, 900)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("after it gave 500 of 600 back: %v", err)
	}
}

func TestTheCallsOfADayAreCountedTogether(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 3 {
		if err := opened(t, root, 0).Begin(t.Context()); err != nil {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	if err := opened(t, root, 0).Begin(t.Context()); !errors.Is(err, gateway.ErrSpent) {
		t.Errorf("the fourth: %v", err)
	}
}

func TestADayThatCannotBeReadIsNotSpent(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	day := filepath.Join(root, "spending", "2026-11-22")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(day, "other"), []byte(`{"tokens": -5000}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := modeltest.Start(t, script(modeltest.Say("ok")))
	l := opened(t, root, 1000)
	s := open(t, start(t, gateway.Config{}), server.URL, func(c *gateway.SessionConfig) { c.Shared = []gateway.Budget{l} })
	if got := clients[0].ask(t, s.Endpoint, true); got.status == http.StatusOK || server.Count() != 0 {
		t.Errorf("%+v, %d requests upstream", got, server.Count())
	}
}
