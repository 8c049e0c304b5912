package codex_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

// executor is told what is to be run, and runs nothing.
type executor func(process.Command)

func (e executor) Exec(_ context.Context, c process.Command) (process.Result, error) {
	e(c)
	return process.Result{Started: started, Ending: process.Exited}, nil
}

// recorded prints what the real program printed, and ends as it did.
type recorded modeltest.Recording

func (r recorded) Exec(_ context.Context, c process.Command) (process.Result, error) {
	if _, err := c.Stdout.Write(r.Stdout); err != nil {
		return process.Result{}, err
	}
	_, err := io.WriteString(c.Stderr, r.Stderr)
	return process.Result{Started: started, Duration: time.Second, Ending: r.Ending, ExitCode: r.ExitCode, Signal: r.Signal}, err
}

// started is when every recording begins.
var started = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

const (
	begun   = "begin warning"
	worked  = " message tool_call tool_result message usage end"
	failed  = " error end"
	thrice  = " retry retry retry"
	session = "00000000-0000-4000-8000-000000000001"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60}
	wants := map[string]struct {
		code    agent.FailureCode
		message string
		until   time.Time
		kinds   string
		usage   agent.Usage
	}{
		"done":               {kinds: begun + worked, usage: done},
		"rate-limited-twice": {kinds: begun + " retry retry" + worked, usage: done},
		"cut":                {code: agent.Unreachable, message: "error decoding response body", kinds: begun + thrice + failed},
		"ended":              {code: agent.Unreachable, message: "closed before response.completed", kinds: begun + thrice + failed},
		"unauthorized":       {code: agent.Unauthorized, message: "401 Unauthorized", kinds: begun + thrice + failed},
		"rate-limited":       {code: agent.RateLimited, message: "429 Too Many Requests", kinds: begun + thrice + failed},
		"usage-limited": {code: agent.UsageLimited, message: "hit your usage limit", kinds: begun + failed,
			until: time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)},
		"server-error":       {code: agent.ModelFailed, message: "high demand", kinds: begun + thrice + failed},
		"overloaded":         {code: agent.ModelFailed, message: "at capacity", kinds: begun + failed},
		"overflow":           {code: agent.Overflowed, message: "ran out of room", kinds: begun + failed},
		"overflow-in-stream": {code: agent.Overflowed, message: "ran out of room", kinds: begun + failed},
		"stalled":            {code: agent.Hung, message: "printed nothing for 1m0s", kinds: begun + " end"},
		"refused":            {code: agent.Unreachable, message: "had not ended after 2m0s: Connection failed", kinds: begun + thrice + " retry retry end"},
	}
	for _, name := range modeltest.Cases(t, "codex") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := wants[name]
			if !known {
				t.Fatal("nothing is known of this case")
			}
			result, kinds := replayed(t, recorded(modeltest.Recorded(t, "codex", name)), nil)
			checkFailure(t, result.Failure, want.code, want.message)
			if f := result.Failure; f != nil && !f.Until.Equal(want.until) {
				t.Errorf("Until = %s, want %s", f.Until, want.until)
			}
			if kinds != want.kinds {
				t.Errorf("entries %q, want %q", kinds, want.kinds)
			}
			if result.Usage != want.usage || (want.code == "") != (result.Answer == "It is written.") {
				t.Errorf("Answer = %q for %+v, want %+v", result.Answer, result.Usage, want.usage)
			}
			if c := result.Conversation; c == nil || c.ID != session || c.Usage != want.usage || len(result.Denied) > 0 {
				t.Errorf("Conversation = %+v, Denied = %q", c, result.Denied)
			}
		})
	}
}

// replayed runs the driver with a program that prints a recording.
func replayed(t *testing.T, r recorded, resumed *agent.Conversation) (agent.Result, string) {
	t.Helper()
	var kinds []string
	result, err := newAgent(t, agent.Settings{Name: "c", Permissions: agent.Everything}).Run(t.Context(), agent.Task{
		Role: "reviewer", OutputLimit: 1 << 20, Log: io.Discard, Idle: time.Minute, Total: 2 * time.Minute, Conversation: resumed,
		Transcript: func(e agent.Entry) { kinds = append(kinds, string(e.Kind)) },
	}, r)
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

func TestTranscriptHoldsWhatAPersonWantsToSee(t *testing.T) {
	t.Parallel()
	var got [][3]string
	calls := map[string]int{}
	_, err := newAgent(t, agent.Settings{Name: "c", Permissions: agent.Everything}).Run(t.Context(), agent.Task{
		OutputLimit: 1 << 20, Log: io.Discard, Transcript: func(e agent.Entry) {
			if e.Text != "" || e.Tool != "" {
				got = append(got, [3]string{string(e.Kind), e.Tool, e.Text})
			}
			calls[e.Call]++
		},
	}, recorded(modeltest.Recorded(t, "codex", "done")))
	want := [][3]string{
		{"warning", "", "Model metadata for `gpt-5` not found. Defaulting to fallback metadata; this can degrade performance and cause issues."},
		{"message", "", "I am going to write the file, as you asked me to."},
		{"tool_call", "command_execution", "/bin/bash -lc \"mkdir -p '/work' && printf %s 'hello\n' >'/work/hello.txt'\""},
		{"tool_result", "command_execution", ""},
		{"message", "", "It is written."},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("entries %q, %v; want %q", got, err, want)
	}
	if len(calls) != 2 {
		t.Errorf("a call and its result have no id of their own in common: %v", calls)
	}
}
