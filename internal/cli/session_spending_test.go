package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/workflow"
)

// asker is an agent that asks its model as often as its issue says, and then waits.
const asker = `#!/bin/sh
test "$1" = --version && echo 2.1.329 && exit
ask() {
	curl -sS -f -o /dev/null -H "x-api-key: $ANTHROPIC_API_KEY" -H 'content-type: application/json' \
		-d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}' "$ANTHROPIC_BASE_URL/v1/messages"
}
ask
test "$SIGNALBOX_ISSUE" = 1 && exec sleep 86397.9
while ask; do :; done
`

// What a session uses counts for its request and for the day while it works, once, and also when its
// host is killed. Where nothing is left none begins, and one that works is ended.
func TestASessionCountsForItsRequestAndItsDay(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, modeltest.Config{Key: apiKey, Script: modeltest.Script{
		Turns: []modeltest.Turn{{Say: "Yes.", Usage: modeltest.Usage{Input: 100, Output: 20}}}}})
	p := newProject(t, 3)
	t.Cleanup(func() { endSessions(p.dir) })
	p.write("asker.sh", asker)
	if err := os.Chmod(filepath.Join(p.dir, "asker.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	configured := func(limits string) {
		p.write(".signalbox/config.yaml", fmt.Sprintf("environment: {sandbox: none}\nlimits: %s\nagents:\n  it: {driver: claude, program: ./asker.sh, url: %q, key: SIGNALBOX_TEST_KEY}\n", limits, model.URL))
	}
	session := func(want int, args ...string) string {
		t.Helper()
		c := p.startWithAgents(append([]string{"session"}, args...)...)
		if got := c.wait(); got != want {
			t.Fatalf("session %q: exit code %d, want %d\n%s", args, got, want, c.out)
		}
		return c.out.String()
	}
	days := func(n int) (all []workflow.Day) {
		for _, run := range p.stages() {
			if run.Details.Number == n {
				all = run.Details.Days
			}
		}
		return all
	}
	must := func(text, part string) {
		t.Helper()
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}

	configured("{per_day: {tokens: 300}}")
	session(0, "start", "1", "--headless")
	until(t, p.dir, nil, func() bool { d := days(1); return len(d) == 1 && d[0].Usage.Tokens() == 120 && d[0].Calls == 1 })
	var host sessionFile
	data, err := os.ReadFile(filepath.Join(p.dir, ".signalbox/sessions/signalbox-issue-1/session.json"))
	if err == nil {
		err = json.Unmarshal(data, &host)
	}
	if err == nil {
		err = syscall.Kill(host.HostPID, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	session(4, "wait", "1")

	session(0, "start", "2", "--headless")
	said := session(4, "wait", "2")
	must(said, "AGENT_OVERSPENT: the day's agents have used 360 tokens of 300 (limits.per_day.tokens)")
	if strings.Contains(said, "--grant") {
		t.Errorf("a day's budget is not granted anew:\n%s", said)
	}
	must(session(1, "start", "3"), "nothing is left of the day's budget: the day's agents have used 360 tokens of 300 (limits.per_day.tokens)")
	if len(days(3)) > 0 || len(p.stages()) != 2 {
		t.Errorf("a session that may not begin made a run")
	}

	configured("{tokens: 300}")
	session(0, "start", "2", "--headless", "--grant")
	must(session(4, "wait", "2"), "of 300 (limits.tokens)")
	must(session(4, "wait", "2"), "signalbox session start 2 --grant")

	configured("{calls: 1}")
	must(session(1, "start", "1"), "its agents have used 1 call of 1 (limits.calls)")
	session(0, "start", "1", "--headless", "--grant")
	session(0, "stop", "1")
	if d := days(1); len(d) != 1 || d[0].Calls != 2 {
		t.Errorf("two sessions are booked as %+v", d)
	}
}

// What a model refuses a session is told with when it ends, or with what mends it.
func TestASessionSaysWhyItsModelRefusedIt(t *testing.T) {
	t.Parallel()
	for kind, want := range map[modeltest.Kind][]string{
		modeltest.UsageLimited: {"AGENT_USAGE_LIMITED until 2", "begin again in the same files: signalbox session start 2"},
		modeltest.Unauthorized: {"AGENT_UNAUTHORIZED: ", "see what is missing: signalbox doctor"},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			model := modeltest.Start(t, modeltest.Config{Key: apiKey, Script: modeltest.Script{
				Turns: []modeltest.Turn{{Fault: modeltest.Fault{Kind: kind, RetryAfter: 2 * time.Hour}}}}})
			p := newProject(t, 2)
			t.Cleanup(func() { endSessions(p.dir) })
			p.write("asker.sh", asker)
			if err := os.Chmod(filepath.Join(p.dir, "asker.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			p.write(".signalbox/config.yaml", fmt.Sprintf("environment: {sandbox: none}\nagents:\n  it: {driver: claude, program: ./asker.sh, url: %q, key: SIGNALBOX_TEST_KEY}\n", model.URL))
			p.startWithAgents("session", "start", "2", "--headless").wait()
			c := p.startWithAgents("session", "wait", "2")
			if code := c.wait(); code != 4 {
				t.Errorf("exit code %d, want 4", code)
			}
			for _, part := range want {
				if said := c.out.String(); !strings.Contains(said, part) {
					t.Errorf("%q is not in\n%s", part, said)
				}
			}
		})
	}
}
