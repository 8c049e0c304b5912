package gemini_test

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
	worked  = "begin message tool_call tool_result message usage end"
	refused = "begin error end"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60}
	wants := map[string]struct {
		code    agent.FailureCode
		message string
		kinds   string
		usage   agent.Usage
		until   string
	}{
		"done":               {kinds: worked, usage: done},
		"rate-limited-twice": {kinds: worked, usage: done},
		"cut":                {code: agent.Unreachable, message: "terminated", kinds: "begin message error end"},
		"ended": {code: agent.Unreachable, message: "ended without a finish reason", kinds: "begin message error usage end",
			usage: agent.Usage{InputTokens: 3600, CachedTokens: 600, OutputTokens: 90}},
		"unauthorized":       {code: agent.Unauthorized, message: "Request had invalid authentication credentials", kinds: refused},
		"rate-limited":       {code: agent.RateLimited, message: "You exceeded your current quota", kinds: refused, until: "1970-01-01T00:00:03Z"},
		"usage-limited":      {code: agent.UsageLimited, message: "exhausted your daily quota on this model.", kinds: refused},
		"server-error":       {code: agent.ModelFailed, message: "An internal error has occurred", kinds: refused},
		"overloaded":         {code: agent.ModelFailed, message: "The model is overloaded", kinds: refused},
		"overflow":           {code: agent.Overflowed, message: "The input token count (1200000) exceeds", kinds: refused},
		"overflow-in-stream": {code: agent.Overflowed, message: "The input token count (1200000) exceeds", kinds: refused},
		"stalled":            {code: agent.Hung, message: "printed nothing for 1m0s", kinds: "begin end"},
		"refused":            {code: agent.Unreachable, message: "fetch failed", kinds: refused},
	}
	for _, name := range modeltest.Cases(t, "gemini") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := wants[name]
			if !known {
				t.Fatal("nothing is known of this case")
			}
			result, kinds := replayed(t, recorded(modeltest.Recorded(t, "gemini", name)))
			checkFailure(t, result.Failure, want.code, want.message)
			if kinds != want.kinds {
				t.Errorf("entries %q, want %q", kinds, want.kinds)
			}
			if f := result.Failure; want.until != "" && (f == nil || f.Until.Format(time.RFC3339) != want.until) {
				t.Errorf("Failure = %+v, want it until %s", f, want.until)
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
