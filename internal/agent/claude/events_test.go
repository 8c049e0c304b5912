package claude_test

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/claude"
	"signalbox/internal/agent/modeltest"
	"signalbox/internal/process"
)

const begins = `{"type":"system","subtype":"init","session_id":"` + session + `"}` + "\n"

func printed(stdout string) recorded {
	return recorded{Ending: process.Exited, Stdout: []byte(begins + stdout)}
}

func TestEndingsThatNoRecordingHas(t *testing.T) {
	t.Parallel()
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":900,"error_status":429,"error":"rate_limit"}`
	for _, test := range []struct {
		name    string
		printed recorded
		code    agent.FailureCode
		message string
	}{
		{name: "no result", printed: printed(""), code: agent.Crashed, message: "without saying that it had finished"},
		{name: "interrupted", printed: printed(`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`),
			code: agent.Crashed, message: "aborted_tools: error_during_execution"},
		{name: "too many turns", printed: printed(`{"type":"result","subtype":"error_max_turns","terminal_reason":"max_turns","result":null}`),
			code: agent.Crashed, message: "max_turns: error_max_turns"},
		{name: "stopped by a hook, and no error", printed: printed(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"hook_stopped","result":"x"}`),
			code: agent.Crashed, message: "hook_stopped"},
		{name: "a budget that is used up", printed: printed(`{"type":"result","subtype":"error_max_budget_usd","terminal_reason":"budget_exhausted"}`),
			code: agent.UsageLimited, message: "budget_exhausted"},
		{name: "a deadline while it was trying again", printed: recorded{Ending: process.Idled, ExitCode: 143, Stdout: []byte(begins + retry)},
			code: agent.RateLimited, message: "printed nothing for 1m0s: the model is called again: rate_limit"},
		{name: "another type of field", printed: printed(`{"type":"result","subtype":"success","is_error":false,"num_turns":"many","usage":[],"result":"fine"}`)},
		{name: "a conversation that is gone", code: agent.Lost, message: "does not know conversation 7 any more",
			printed: recorded{Ending: process.Exited, ExitCode: 1, Stderr: "No conversation found with session ID: 7\n"}},
		{name: "a conversation that is gone, told as an event", code: agent.Lost, message: "does not know conversation 7 any more",
			printed: recorded{Ending: process.Exited, ExitCode: 1, Stdout: []byte(`{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: 7"]}`)}},
		{name: "a model that is not there", printed: printed(`{"type":"assistant","is_api_error_message":true,"error":"model_not_found","message":{"content":"no"}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":404,"result":"There's an issue with the selected model"}`),
			code: agent.Refused, message: "issue with the selected model"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, _ := replayed(t, test.printed)
			checkFailure(t, result.Failure, test.code, test.message)
		})
	}
}

func TestSubscriptionThatIsUsedUpTellsItsReset(t *testing.T) {
	t.Parallel()
	result, _ := replayed(t, printed(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1767236400,"rateLimitType":"five_hour"}}`+"\n"+
		`{"type":"assistant","is_api_error_message":true,"error":"rate_limit","message":{"content":[{"type":"text","text":"no"}]}}`+"\n"+
		`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"You've hit your session limit · resets 3am (UTC)"}`))
	checkFailure(t, result.Failure, agent.UsageLimited, "You've hit your session limit")
	if want := time.Unix(1767236400, 0).UTC(); result.Failure == nil || !result.Failure.Until.Equal(want) {
		t.Errorf("Failure = %+v, want it until %s", result.Failure, want)
	}
}

func TestDeniedToolsAreToldOnceEach(t *testing.T) {
	t.Parallel()
	result, kinds := replayed(t, printed(`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"c1"}`+"\n"+
		`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"I could not.","permission_denials":[{"tool_name":"Bash"},{"tool_name":"Write"},{"tool_name":"Bash"}]}`))
	if result.Failure != nil || !slices.Equal(result.Denied, []string{"Bash", "Write"}) || kinds != "begin permission_denied usage end" {
		t.Errorf("Denied = %q, entries %q, %+v", result.Denied, kinds, result.Failure)
	}
}

func TestUsageOfAResumedConversationIsThisCallsOwn(t *testing.T) {
	t.Parallel()
	before := agent.Usage{InputTokens: 100, CachedTokens: 60, OutputTokens: 10, CostUSD: 1}
	all := agent.Usage{InputTokens: 180, CachedTokens: 100, OutputTokens: 15, CostUSD: 1.5}
	const counted = `"modelUsage":{"a":{"inputTokens":80,"cacheReadInputTokens":90,"cacheCreationInputTokens":10,"outputTokens":15,"costUSD":1.5}}`
	const ends = `{"type":"result","subtype":"success","result":"x","total_cost_usd":1.5,`
	for name, test := range map[string]struct {
		line      string
		used, now agent.Usage
	}{
		"told apart": {line: ends + counted + `,"model_usage_since_last_result":{"a":{"inputTokens":7,"outputTokens":1,"costUSD":0.25}}}`,
			used: agent.Usage{InputTokens: 7, OutputTokens: 1, CostUSD: 0.25}, now: all},
		"counted on": {line: ends + counted + `}`, used: all.Sub(before), now: all},
		"of an older version": {line: ends + `"usage":{"input_tokens":20,"cache_read_input_tokens":30,"cache_creation_input_tokens":10,"output_tokens":5}}`,
			used: agent.Usage{InputTokens: 60, CachedTokens: 40, OutputTokens: 5, CostUSD: 0.5}, now: agent.Usage{InputTokens: 160, CachedTokens: 100, OutputTokens: 15, CostUSD: 1.5}},
		"cut off": {line: `{"type":"assistant","message":{"id":"1","usage":{"input_tokens":5,"output_tokens":1},"content":[]}}` + "\n" +
			`{"type":"assistant","message":{"id":"1","usage":{"input_tokens":5,"output_tokens":2},"content":[]}}` + "\n" +
			`{"type":"assistant","message":{"id":"2","usage":{"input_tokens":6,"output_tokens":3},"content":[]}}`,
			used: agent.Usage{InputTokens: 11, OutputTokens: 5}, now: agent.Usage{InputTokens: 111, CachedTokens: 60, OutputTokens: 15, CostUSD: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := replayedFor(t, printed(test.line), agent.Task{Conversation: &agent.Conversation{ID: session, Usage: before}})
			if result.Usage != test.used || result.Conversation == nil || result.Conversation.Usage != test.now {
				t.Errorf("Usage = %+v of %+v, want %+v of %+v", result.Usage, result.Conversation, test.used, test.now)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, name := range modeltest.Cases(f, "claude") {
		f.Add(modeltest.Recorded(f, "claude", name).Stdout)
	}
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":7}},3,null]}}`))
	f.Fuzz(claude.ReadAnything)
}
