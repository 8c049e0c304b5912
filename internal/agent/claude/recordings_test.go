package claude_test

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
	return process.Result{Started: time.Unix(1, 0), Ending: process.Exited}, nil
}

// recorded prints what the real program printed, and ends as it did.
type recorded modeltest.Recording

func (r recorded) Exec(_ context.Context, c process.Command) (process.Result, error) {
	if _, err := c.Stdout.Write(r.Stdout); err != nil {
		return process.Result{}, err
	}
	_, err := io.WriteString(c.Stderr, r.Stderr)
	return process.Result{Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Duration: time.Second, Ending: r.Ending, ExitCode: r.ExitCode, Signal: r.Signal}, err
}

const (
	worked  = " message tool_call tool_result message usage end"
	failed  = " error usage end"
	twice   = " retry retry"
	session = "00000000-0000-4000-8000-000000000001"
)

func TestRecordings(t *testing.T) {
	t.Parallel()
	done := agent.Usage{InputTokens: 2400, CachedTokens: 400, OutputTokens: 60, CostUSD: 0.00702}
	wants := map[string]struct {
		code    agent.FailureCode
		message string
		kinds   string
		usage   agent.Usage
	}{
		"done":               {kinds: "begin" + worked, usage: done},
		"rate-limited-twice": {kinds: "begin" + twice + worked, usage: done},
		"cut":                {kinds: "begin" + twice + worked, usage: done},
		"ended":              {kinds: "begin retry" + worked, usage: agent.Usage{InputTokens: 4800, CachedTokens: 800, OutputTokens: 66, CostUSD: 0.01323}},
		"unauthorized":       {code: agent.Unauthorized, message: "Invalid API key", kinds: "begin" + twice + failed},
		"rate-limited":       {code: agent.RateLimited, message: "50 requests per minute", kinds: "begin" + twice + failed},
		"usage-limited":      {code: agent.UsageLimited, message: "exceed your account's rate limit", kinds: "begin" + failed},
		"server-error":       {code: agent.ModelFailed, message: "500 Internal server error", kinds: "begin" + twice + failed},
		"overloaded":         {code: agent.ModelFailed, message: "529 Overloaded", kinds: "begin" + twice + failed},
		"overflow":           {code: agent.Overflowed, message: "Prompt is too long", kinds: "begin" + failed},
		"overflow-in-stream": {code: agent.Overflowed, message: "Prompt is too long", kinds: "begin" + failed},
		"stalled":            {code: agent.Hung, message: "printed nothing for 1m0s", kinds: "begin end"},
		"refused":            {code: agent.Unreachable, message: "ECONNREFUSED", kinds: "begin" + twice + failed},
	}
	for _, name := range modeltest.Cases(t, "claude") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, known := wants[name]
			if !known {
				t.Fatal("nothing is known of this case")
			}
			result, kinds := replayed(t, recorded(modeltest.Recorded(t, "claude", name)))
			checkFailure(t, result.Failure, want.code, want.message)
			if kinds != want.kinds {
				t.Errorf("entries %q, want %q", kinds, want.kinds)
			}
			if got := result.Usage; got != want.usage && (got.CostUSD-want.usage.CostUSD > 1e-9 || got.InputTokens != want.usage.InputTokens || got.OutputTokens != want.usage.OutputTokens || got.CachedTokens != want.usage.CachedTokens) {
				t.Errorf("Usage = %+v, want %+v", got, want.usage)
			}
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
	return replayedFor(t, r, agent.Task{Idle: time.Minute})
}

func replayedFor(t *testing.T, r recorded, task agent.Task) (agent.Result, string) {
	t.Helper()
	var kinds []string
	task.Role, task.OutputLimit, task.Log = "reviewer", 1<<20, io.Discard
	task.Transcript = func(e agent.Entry) { kinds = append(kinds, string(e.Kind)) }
	result, err := newAgent(t, agent.Settings{Name: "c", Permissions: agent.Everything}).Run(t.Context(), task, r)
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
	}, recorded(modeltest.Recorded(t, "claude", "done")))
	want := [][3]string{
		{"message", "", "I am going to write the file, as you asked me to."},
		{"tool_call", "Write", `{"file_path":"/work/hello.txt","content":"hello\n"}`},
		{"tool_result", "", "File created successfully at: /work/hello.txt (file state is current in your context — no need to Read it back)"},
		{"message", "", "It is written."},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("entries %q, %v; want %q", got, err, want)
	}
	if len(calls) != 2 {
		t.Errorf("a call and its result have no id of their own in common: %v", calls)
	}
}
