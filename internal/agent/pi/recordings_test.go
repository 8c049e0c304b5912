package pi_test

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// recorded prints what the real program printed, and ends as it did.
type recorded modeltest.Recording

func (r recorded) Exec(_ context.Context, c process.Command) (process.Result, error) {
	if _, err := c.Stdout.Write(r.Stdout); err != nil {
		return process.Result{}, err
	}
	_, err := io.WriteString(c.Stderr, r.Stderr)
	return process.Result{Started: time.Unix(1, 0), Duration: time.Second, Ending: r.Ending, ExitCode: r.ExitCode, Signal: r.Signal}, err
}

const (
	session = "00000000-0000-4000-8000-000000000001"
	worked  = "begin message usage tool_call tool_result message usage end"
	refused = "begin error retry error end"
	broken  = "begin message usage error retry message usage error end"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.0069}
	half := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 2, CostUSD: 0.00603}
	wants := map[string]struct {
		code    agent.FailureCode
		message string
		kinds   string
		usage   agent.Usage
	}{
		"done":               {kinds: worked, usage: done},
		"rate-limited-twice": {kinds: worked, usage: done},
		"cut":                {code: agent.Unreachable, message: "terminated", kinds: broken, usage: half},
		"ended":              {code: agent.Unreachable, message: "ended before message_stop", kinds: broken, usage: half},
		"unauthorized":       {code: agent.Unauthorized, message: "401 invalid x-api-key", kinds: "begin error end"},
		"rate-limited":       {code: agent.RateLimited, message: "50 requests per minute", kinds: refused},
		"usage-limited":      {code: agent.TimedOut, message: "had not ended", kinds: "begin end"},
		"server-error":       {code: agent.ModelFailed, message: "500 Internal server error", kinds: refused},
		"overloaded":         {code: agent.ModelFailed, message: "529 Overloaded", kinds: refused},
		"overflow":           {code: agent.Overflowed, message: "prompt is too long", kinds: "begin error end"},
		"overflow-in-stream": {code: agent.Overflowed, message: "prompt is too long", kinds: "begin error end"},
		"stalled":            {code: agent.Hung, message: "printed nothing for 1m0s", kinds: "begin end"},
		"refused":            {code: agent.Unreachable, message: "Connection error.", kinds: refused},
	}
	for _, name := range modeltest.Cases(t, "pi") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := wants[name]
			if !known {
				t.Fatal("nothing is known of this case")
			}
			result, kinds := replayed(t, recorded(modeltest.Recorded(t, "pi", name)))
			checkFailure(t, result.Failure, want.code, want.message)
			if kinds != want.kinds {
				t.Errorf("entries %q, want %q", kinds, want.kinds)
			}
			checkUsage(t, result.Usage, want.usage)
			if want.code == "" && result.Answer != "It is written." {
				t.Errorf("Answer = %q", result.Answer)
			}
			if c := result.Conversation; c == nil || c.ID != session || len(result.Denied) > 0 {
				t.Errorf("Conversation = %+v, Denied = %q", c, result.Denied)
			}
		})
	}
}

// replayed runs the driver with a program that prints a recording.
func replayed(t *testing.T, r recorded) (agent.Result, string) {
	t.Helper()
	var kinds []string
	task := agent.Task{Role: "reviewer", Idle: time.Minute, Total: time.Minute, OutputLimit: 1 << 20, Log: io.Discard,
		Transcript: func(e agent.Entry) { kinds = append(kinds, string(e.Kind)) }}
	result, err := newAgent(t, agent.Settings{Name: "a", Permissions: agent.Everything}).Run(t.Context(), task, r)
	if err != nil {
		t.Fatal(err)
	}
	return result, strings.Join(kinds, " ")
}

// logged is the raw output that is kept of a recording.
func logged(t *testing.T, r recorded) string {
	t.Helper()
	var log strings.Builder
	task := agent.Task{Role: "implementer", OutputLimit: 1 << 20, Log: &log}
	if _, err := newAgent(t, agent.Settings{Name: "a", Permissions: agent.Everything}).Run(t.Context(), task, r); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

func checkFailure(t *testing.T, got *agent.Failure, code agent.FailureCode, message string) {
	t.Helper()
	switch {
	case code == "" && got != nil:
		t.Errorf("Failure = %+v", *got)
	case code != "" && (got == nil || got.Code != code || !strings.Contains(got.Message, message)):
		t.Errorf("Failure = %+v, want %s with %q", got, code, message)
	}
}

func checkUsage(t *testing.T, got, want agent.Usage) {
	t.Helper()
	if math.Abs(got.CostUSD-want.CostUSD) > 1e-9 {
		t.Errorf("cost %g, want %g", got.CostUSD, want.CostUSD)
	}
	got.CostUSD, want.CostUSD = 0, 0
	if got != want {
		t.Errorf("Usage = %+v, want %+v", got, want)
	}
}
