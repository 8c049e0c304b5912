package modeltest_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

var agents = []string{"claude", "codex", "opencode", "pi", "gemini"}

// trace is what a recording must not hold of the machine that it was made on.
var trace = regexp.MustCompile(`[^t]/tmp/|/root|TestLive|node_modules|127\.0\.0\.1:[0-79]`)

func TestEveryAgentIsRecordedInTheSameCases(t *testing.T) {
	t.Parallel()
	want := modeltest.Cases(t, "claude")
	for _, kind := range []modeltest.Kind{modeltest.Unauthorized, modeltest.RateLimited, modeltest.ServerError, modeltest.Stalled, modeltest.Cut} {
		if !slices.Contains(want, string(kind)) {
			t.Errorf("%s is not recorded", kind)
		}
	}
	for _, agent := range agents {
		if got := modeltest.Cases(t, agent); !slices.Equal(got, want) {
			t.Errorf("%s is recorded in %q, claude in %q", agent, got, want)
		}
		done := modeltest.Recorded(t, agent, "done")
		if done.ExitCode != 0 || done.Ending != process.Exited || !done.Wrote {
			t.Errorf("%s: a good run is %+v", agent, done)
		}
	}
}

func TestARecordingHoldsEventsAndNoTraceOfWhereItWasMade(t *testing.T) {
	t.Parallel()
	for _, agent := range agents {
		for _, name := range modeltest.Cases(t, agent) {
			recording := modeltest.Recorded(t, agent, name)
			if recording.Agent != agent || recording.Case != name || recording.Version == "" {
				t.Errorf("%s/%s is of %q, %q, %q", agent, name, recording.Agent, recording.Case, recording.Version)
			}
			if found := trace.Find(encode(t, recording)); found != nil {
				t.Errorf("%s/%s holds %q", agent, name, found)
			}
			for line := range bytes.Lines(recording.Stdout) {
				if !json.Valid(line) {
					t.Errorf("%s/%s: no JSON: %.200s", agent, name, line)
				}
			}
		}
	}
}

// encode returns the content of a recording's file.
func encode(t *testing.T, r modeltest.Recording) []byte {
	t.Helper()
	head, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(head, '\n'), r.Stdout...)
}
