package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/cli"
	"signalbox/internal/cli/command"
	"signalbox/internal/health"
)

// hours is a project whose self-healing loop waits by a clock that the test moves.
type hours struct {
	*project
	at time.Time
}

// heal runs "signalbox heal" or what is below it, which must end with the code.
func (h *hours) heal(code int, args ...string) string {
	h.Helper()
	var out bytes.Buffer
	streams := command.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Width: func() int { return 80 }, Env: os.Getenv, Dir: h.dir,
		Clock: func() time.Time { return h.at }}
	if got := cli.Main(h.Context(), append([]string{"heal"}, args...), streams); got != code {
		h.Fatalf("at %s heal %q ended with %d, want %d:\n%s", h.at.Format(time.RFC3339), args, got, code, &out)
	}
	return out.String()
}

func (h *hours) passes(d time.Duration) { h.at = h.at.Add(d) }

// requests are the files of those that are there.
func (h *hours) requests() []string {
	h.Helper()
	files, err := filepath.Glob(filepath.Join(h.dir, "requests", "*.md"))
	if err != nil {
		h.Fatal(err)
	}
	return files
}

// Three repairs that really fail, by the command line and over hours: patterns 3 and 4, one request about
// it, and a person who acts.
func TestABugThatNoAgentRepairsCallsAPersonOnceAndThenIsRepaired(t *testing.T) {
	t.Parallel()
	h := &hours{project: newPatient(t, "agents: {script: {driver: replay, script: .signalbox/playbook.yaml}}",
		"agents: {mender: {driver: command, command: [sh, -c, echo howdy >greeting.txt]}}\nroles: {implementer: mender, planner: none, reviewer: none, repairer: none}",
		"health:\n", "limits: {autofix: 1, agent_retries: 1}\nhealth:\n  every: 5m\n"), at: time.Now().Truncate(time.Second)}

	for attempt, code := range []int{4, 4, 3} {
		h.heal(0, "gate")
		if said := h.heal(code); !strings.Contains(said, "greeting: the repair failed: the tests still fail") {
			t.Fatalf("it fails for another reason:\n%s", said)
		}
		if state := h.health(); state.TotalFixesAttempted != attempt+1 || state.ContinuousFailureCount != attempt+1 || len(h.requests()) != 1+attempt/2 {
			t.Fatalf("after attempt %d: %+v, %d requests", attempt+1, state, len(h.requests()))
		}
		for range map[int]int{4: 2}[code] { // within the cooldown nothing happens
			h.passes(149 * time.Second)
			h.heal(9, "gate")
			h.heal(9)
		}
		h.passes(2 * time.Second)
	}
	for range 4 { // of looks
		h.passes(time.Hour)
		h.heal(3, "gate")
		h.heal(3)
	}
	about := h.health().Loop.Request
	if state := h.health(); state.LastHealthStatus != health.Critical || state.RetryRequired || state.TotalFixesAttempted != 3 || len(h.requests()) != 2 || about == "" {
		t.Fatalf("hours later: %+v, %d requests", state, len(h.requests()))
	}

	settings := filepath.Join(h.dir, ".signalbox", "config.yaml")
	text, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	h.write(".signalbox/config.yaml", strings.Replace(string(text), "howdy", "hello", 1))
	if err := os.Remove(filepath.Join(h.dir, "requests", about+".md")); err != nil {
		t.Fatal(err)
	}
	h.heal(0)
	h.passes(5 * time.Minute)
	h.heal(0)
	if state := h.health(); state.LastHealthStatus != health.Healthy || state.TotalFixesAttempted != 4 || state.TotalFixesSucceeded != 1 ||
		state.TotalErrorsDetected != 1 || state.ContinuousFailureCount != 0 || len(h.requests()) != 1 {
		t.Errorf("once a person acted: %+v, %d requests", state, len(h.requests()))
	}
	h.heal(8, "gate")
	h.mustLeaveNothing()
}
