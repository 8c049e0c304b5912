package codex_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

const (
	begins = `{"type":"thread.started","thread_id":"` + session + `"}` + "\n"
	says   = `{"type":"item.completed","item":{"id":"i9","type":"agent_message","text":"Done."}}` + "\n"
	ends   = `{"type":"turn.completed","usage":{"input_tokens":180,"cached_input_tokens":90,"cache_write_input_tokens":10,"output_tokens":15}}` + "\n"
)

func printed(stdout string) agenttest.Recorded {
	return agenttest.Recorded{Ending: process.Exited, Stdout: []byte(begins + stdout)}
}

func TestEndingsThatNoRecordingHas(t *testing.T) {
	t.Parallel()
	driver.Ends(t, []agenttest.Printed{
		{Name: "exit code 0 and no end of the turn", Stdout: begins + says, Code: agent.Crashed, Message: "without saying that it had finished"},
		{Name: "an error that it got over", Stdout: begins + `{"type":"error","message":"stream disconnected before completion"}` + "\n" + says + ends, Answer: "Done."},
		{Name: "a turn that failed without words", Stdout: begins + `{"type":"turn.failed","error":"odd"}`, Code: agent.Crashed, Message: "the turn failed"},
		{Name: "a deadline while it was trying again", Ending: process.Idled, Exit: -1,
			Stdout: begins + `{"type":"error","message":"Reconnecting... 1/1 (exceeded retry limit, last status: 429 Too Many Requests)"}`,
			Code:   agent.RateLimited, Message: "printed nothing for 1m0s: exceeded retry limit"},
		{Name: "a deadline after it had tried again", Ending: process.Idled, Exit: -1,
			Stdout: begins + `{"type":"error","message":"Reconnecting... 1/1"}` + "\n" + says, Code: agent.Hung, Message: "printed nothing for 1m0s"},
		{Name: "another type of field", Stdout: begins + `{"type":"item.completed","item":{"type":"agent_message","text":"Done.","exit_code":"x"}}` + "\n" + ends, Answer: "Done."},
		{Name: "a conversation that is gone", Exit: 1, Stderr: "Error: no rollout found for thread id 7\n", Code: agent.Lost, Message: "no longer knows the conversation"},
		{Name: "a model that is not there", Stdout: begins + `{"type":"turn.failed","error":{"message":"unexpected status 404 Not Found: The model does not exist, url: http://x"}}`,
			Code: agent.Refused, Message: "404"},
	})
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
		result, _ := driver.Replay(t, printed(`{"type":"error","message":"`+said+`"}`), nil)
		if f := result.Failure; f == nil || f.Code != agent.UsageLimited && f.Code != agent.RateLimited || !f.Until.Equal(want) {
			t.Errorf("%s: Failure = %+v, want it until %s", said, f, want)
		}
	}
}

func TestToolsThatAreReportedOnlyAtTheirEnd(t *testing.T) {
	t.Parallel()
	result, kinds := driver.Replay(t, printed(
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
		result, _ := driver.Replay(t, printed(says+ends), &agent.Conversation{ID: session, Usage: test.before})
		if result.Usage != test.used || result.Conversation == nil || result.Conversation.Usage != test.now {
			t.Errorf("%s: Usage = %+v of %+v, want %+v of %+v", name, result.Usage, result.Conversation, test.used, test.now)
		}
	}
}

func FuzzReader(f *testing.F) {
	driver.ReadsAnything(f, `{"type":"item.completed","item":{"type":"mcp_tool_call","arguments":7,"changes":[3,null]}}`)
}
