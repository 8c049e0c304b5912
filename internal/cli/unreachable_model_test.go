package cli_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"signalbox/internal/workflow"
)

// leavesAMark is an agent that says its version, and leaves a file where it is called for more.
const leavesAMark = `#!/bin/sh
[ "$1" = --version ] && { echo "9.9.9 (Claude Code)"; exit; }
touch "$(dirname "$0")/called"
`

// newMarked makes a project whose agent is to find its model at an address, and returns the file that a call leaves.
func newMarked(t *testing.T, url string) (p *project, called string) {
	t.Helper()
	p = newProject(t, 1)
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	if err := os.WriteFile(program, []byte(leavesAMark), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(".signalbox/config.yaml", fmt.Sprintf("environment: {sandbox: none}\nagents:\n  it: {driver: claude, program: %q, url: %q, key: SIGNALBOX_TEST_KEY}\n", program, url))
	p.git("commit", "--quiet", "-am", "Name the agent")
	return p, filepath.Join(dir, "called")
}

func notCalled(t *testing.T, called string) {
	t.Helper()
	if _, err := os.Lstat(called); err == nil {
		t.Error("the agent was called")
	}
}

// A server that does not speak https never will.
func TestARunWhoseModelCannotBeReachedStopsBeforeTheFirstCall(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address := strings.Replace(server.URL, "http:", "https:", 1)
	p, called := newMarked(t, address)
	c := p.startWithAgents("run", "1")
	if code := c.wait(); code != 3 {
		t.Errorf("exit code %d", code)
	}
	for _, says := range []string{"AGENT_NO_ROUTE", "its model at " + address, "it does not speak https: fix the address", "correct the address in", "signalbox resume 1"} {
		if !strings.Contains(c.out.String(), says) {
			t.Errorf("want %q in\n%s", says, c.out)
		}
	}
	notCalled(t, called)
	d := p.startWithAgents("doctor")
	if code := d.wait(); code != 1 || !strings.Contains(d.out.String(), "it does not speak https") {
		t.Errorf("doctor: exit code %d\n%s", code, d.out)
	}
}

// A server that is not there may be started in a minute.
func TestARunWaitsForAMissingModelAndNotifiesNoOne(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p, called := newMarked(t, address)
	c := p.startWithAgents("run", "1")
	if !c.until(func() bool {
		pending := p.stage(1).Details.Pending
		return len(pending) > 0 && pending[0].Kind == workflow.Wait
	}) {
		t.Error("it does not wait")
	}
	c.signal(syscall.SIGINT)
	c.wait()
	if run := p.stage(1); run.SpentSoFar().Tokens() != 0 {
		t.Errorf("it used %+v", run.SpentSoFar())
	}
	notCalled(t, called)
	if !strings.Contains(c.out.String(), "again in 5s") {
		t.Errorf("it does not say what it waits for\n%s", c.out)
	}
}
