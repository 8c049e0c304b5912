package codex_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/codex"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

const (
	begins = `{"type":"thread.started","thread_id":"` + session + `"}` + "\n"
	says   = `{"type":"item.completed","item":{"id":"i9","type":"agent_message","text":"Done."}}` + "\n"
	ends   = `{"type":"turn.completed","usage":{"input_tokens":180,"cached_input_tokens":90,"cache_write_input_tokens":10,"output_tokens":15}}` + "\n"
)

func printed(stdout string) recorded {
	return recorded{Ending: process.Exited, Stdout: []byte(begins + stdout)}
}

func TestEndingsThatNoRecordingHas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		printed recorded
		code    agent.FailureCode
		message string
	}{
		{name: "exit code 0 and no end of the turn", printed: printed(says), code: agent.Crashed, message: "without saying that it had finished"},
		{name: "an error that it got over", printed: printed(`{"type":"error","message":"stream disconnected before completion"}` + "\n" + says + ends)},
		{name: "a turn that failed without words", printed: printed(`{"type":"turn.failed","error":"odd"}`), code: agent.Crashed, message: "the turn failed"},
		{name: "a deadline while it was trying again", printed: recorded{Ending: process.Idled, ExitCode: -1, Signal: "SIGTERM",
			Stdout: []byte(begins + `{"type":"error","message":"Reconnecting... 1/1 (exceeded retry limit, last status: 429 Too Many Requests)"}`)},
			code: agent.RateLimited, message: "printed nothing for 1m0s: exceeded retry limit"},
		{name: "a deadline after it had tried again", printed: recorded{Ending: process.Idled, ExitCode: -1, Signal: "SIGTERM",
			Stdout: []byte(begins + `{"type":"error","message":"Reconnecting... 1/1"}` + "\n" + says)}, code: agent.Hung, message: "printed nothing for 1m0s"},
		{name: "another type of field", printed: printed(`{"type":"item.completed","item":{"type":"agent_message","text":"Done.","exit_code":"x"}}` + "\n" + ends)},
		{name: "a conversation that is gone", code: agent.Lost, message: "does not know the conversation",
			printed: recorded{Ending: process.Exited, ExitCode: 1, Stderr: "Error: no rollout found for thread id 7\n"}},
		{name: "a model that is not there", printed: printed(`{"type":"turn.failed","error":{"message":"unexpected status 404 Not Found: The model does not exist, url: http://x"}}`),
			code: agent.Refused, message: "404"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, _ := replayed(t, test.printed, nil)
			checkFailure(t, result.Failure, test.code, test.message)
			if test.code == "" && result.Answer != "Done." {
				t.Errorf("Answer = %q", result.Answer)
			}
		})
	}
}

func TestLimitsTellWhenTheyEnd(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]time.Time{
		"You’ve hit your usage limit. Try again later.":                                        {},
		"You’ve hit your usage limit. Upgrade or try again at 12:30 PM.":                       time.Date(2026, 1, 1, 12, 30, 0, 0, time.UTC),
		"You’ve hit your usage limit. Upgrade or try again at 12:00 PM.":                       time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC),
		"You’ve hit your usage limit. Upgrade or try again at 12:00 AM.":                       time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
		"You’ve hit your usage limit or try again at Jan 3rd, 2026 9:05 PM.":                   time.Date(2026, 1, 3, 21, 5, 0, 0, time.UTC),
		"You’ve hit your usage limit or try again at Jan 33rd, 2026 9:05 PM.":                  {},
		"You’ve hit your usage limit or try again at 99:05 PM.":                                {},
		"stream disconnected: Rate limit reached for gpt-5 on TPM. Please try again in 1.5s. ": time.Date(2026, 1, 1, 12, 0, 2, 500_000_000, time.UTC),
	} {
		result, _ := replayed(t, printed(`{"type":"error","message":"`+said+`"}`), nil)
		if f := result.Failure; f == nil || f.Code != agent.UsageLimited && f.Code != agent.RateLimited || !f.Until.Equal(want) {
			t.Errorf("%s: Failure = %+v, want it until %s", said, f, want)
		}
	}
}

func TestToolsThatAreToldOnlyWhenTheyAreOver(t *testing.T) {
	t.Parallel()
	result, kinds := replayed(t, printed(
		`{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"/work/a","kind":"add"}],"status":"completed"}}`+"\n"+
			`{"type":"item.completed","item":{"id":"i2","type":"command_execution","command":"rm x","exit_code":-1,"status":"declined"}}`+"\n"+
			`{"type":"item.started","item":{"id":"i3","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"status":"in_progress"}}`+"\n"+
			`{"type":"item.completed","item":{"id":"i3","type":"mcp_tool_call","server":"s","tool":"t","arguments":{"a":1},"error":{"message":"no"},"status":"failed"}}`+"\n"+
			`{"type":"item.completed","item":{"id":"i4","type":"reasoning","text":"hm"}}`+"\n"+says+ends), nil)
	const want = "begin tool_call tool_result tool_call permission_denied tool_result tool_call tool_result message usage end"
	if kinds != want || !slices.Equal(result.Denied, []string{"command_execution"}) {
		t.Errorf("entries %q, want %q; Denied = %q", kinds, want, result.Denied)
	}
}

func TestUsageOfAResumedConversationIsThisCallsOwn(t *testing.T) {
	t.Parallel()
	all := agent.Usage{InputTokens: 180, CachedTokens: 100, OutputTokens: 15}
	for name, test := range map[string]struct{ before, used, now agent.Usage }{
		"counted on": {before: agent.Usage{InputTokens: 100, CachedTokens: 60, OutputTokens: 10},
			used: agent.Usage{InputTokens: 80, CachedTokens: 40, OutputTokens: 5}, now: all},
		"of a version that does not": {before: agent.Usage{InputTokens: 200}, used: all,
			now: agent.Usage{InputTokens: 380, CachedTokens: 100, OutputTokens: 15}},
	} {
		result, _ := replayed(t, printed(says+ends), &agent.Conversation{ID: session, Usage: test.before})
		if result.Usage != test.used || result.Conversation == nil || result.Conversation.Usage != test.now {
			t.Errorf("%s: Usage = %+v of %+v, want %+v of %+v", name, result.Usage, result.Conversation, test.used, test.now)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range modeltest.Cases(f, "codex") {
		f.Add(modeltest.Recorded(f, "codex", name).Stdout)
	}
	f.Add([]byte(`{"type":"item.completed","item":{"type":"mcp_tool_call","arguments":7,"changes":[3,null]}}`))
	f.Fuzz(codex.ReadAnything)
}
