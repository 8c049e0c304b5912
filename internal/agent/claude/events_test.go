package claude_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/process"
)

const begins = `{"type":"system","subtype":"init","session_id":"` + session + `"}` + "\n"

func printed(stdout string) agenttest.Recorded {
	return agenttest.Recorded{Ending: process.Exited, Stdout: []byte(begins + stdout)}
}

func TestEndingsThatNoRecordingHas(t *testing.T) {
	t.Parallel()
	driver.Ends(t, []agenttest.Printed{
		{Name: "no result", Stdout: begins, Code: agent.Crashed, Message: "without saying that it had finished"},
		{Name: "interrupted", Stdout: begins + `{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`,
			Code: agent.Crashed, Message: "aborted_tools: error_during_execution"},
		{Name: "too many turns", Stdout: begins + `{"type":"result","subtype":"error_max_turns","terminal_reason":"max_turns","result":null}`,
			Code: agent.Crashed, Message: "max_turns: error_max_turns"},
		{Name: "stopped by a hook, and no error", Stdout: begins + `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"hook_stopped","result":"x"}`,
			Code: agent.Crashed, Message: "hook_stopped"},
		{Name: "a budget that is used up", Stdout: begins + `{"type":"result","subtype":"error_max_budget_usd","terminal_reason":"budget_exhausted"}`,
			Code: agent.UsageLimited, Message: "budget_exhausted"},
		{Name: "a deadline while it was trying again", Ending: process.Idled, Exit: 143,
			Stdout: begins + `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":900,"error_status":429,"error":"rate_limit"}`,
			Code:   agent.RateLimited, Message: "printed nothing for 1m0s: the model is called again: rate_limit"},
		{Name: "another type of field", Stdout: begins + `{"type":"result","subtype":"success","is_error":false,"num_turns":"many","usage":[],"result":"fine"}`},
		{Name: "a conversation that is gone", Exit: 1, Stderr: "No conversation found with session ID: 7\n",
			Code: agent.Lost, Message: "no longer knows conversation 7"},
		{Name: "a conversation that is gone, told as an event", Exit: 1,
			Stdout: `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: 7"]}`,
			Code:   agent.Lost, Message: "no longer knows conversation 7"},
		{Name: "a model that is not there", Stdout: begins + `{"type":"assistant","is_api_error_message":true,"error":"model_not_found","message":{"content":"no"}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":404,"result":"There's an issue with the selected model"}`,
			Code: agent.Refused, Message: "issue with the selected model"},
		{Name: "a subscription that is used up tells its reset", Stdout: begins + `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1767279600,"rateLimitType":"five_hour"}}` + "\n" +
			`{"type":"assistant","is_api_error_message":true,"error":"rate_limit","message":{"content":[{"type":"text","text":"no"}]}}` + "\n" +
			`{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"You've hit your session limit · resets 3am (UTC)"}`,
			Code: agent.UsageLimited, Message: "You've hit your session limit", Until: "2026-01-01T15:00:00Z"},
	})
}

// Output of 2.0.1 for such answers of its model's server, and messages found in its program. It reports neither a status nor a class.
func TestErrorsOfAnOldVersionAreKnownByTheirWords(t *testing.T) {
	t.Parallel()
	const api = `API Error: %STATUS {\"error\":{\"message\":\"%WORDS\",\"type\":\"%TYPE\"},\"request_id\":\"req_scripted\",\"type\":\"error\"}`
	told := func(status, words, kind string) string {
		return strings.NewReplacer("%STATUS", status, "%WORDS", words, "%TYPE", kind).Replace(api)
	}
	for said, want := range map[string]agent.Failure{
		told("429", "This request would exceed the rate limit for your organization of 50 requests per minute.", "rate_limit_error"):     {Code: agent.RateLimited},
		told("429", "This request would exceed your account's rate limit. Please try again later.", "rate_limit_error"):                  {Code: agent.UsageLimited},
		told("403", "Your API key does not have permission to use the specified resource.", "permission_error") + " · Please run /login": {Code: agent.Unauthorized},
		told("500", "Internal server error", "api_error"):                                                                                {Code: agent.ModelFailed},
		told("529", "Overloaded", "overloaded_error"):                                                                                    {Code: agent.ModelFailed},
		told("404", "model: claude-nothing", "not_found_error"):                                                                          {Code: agent.Refused},
		"Invalid API key · Fix external API key":                                                                                         {Code: agent.Unauthorized},
		"OAuth token revoked · Please run /login":                                                                                        {Code: agent.Unauthorized},
		"Prompt is too long":                        {Code: agent.Overflowed},
		"Credit balance is too low":                 {Code: agent.UsageLimited},
		"Weekly limit reached ∙ resets Oct 4, 3am":  {Code: agent.UsageLimited},
		"Claude AI usage limit reached|1767279600":  {Code: agent.UsageLimited, Until: time.Unix(1767279600, 0).UTC()},
		"Request timed out":                         {Code: agent.Unreachable},
		"API Error: Connection error.":              {Code: agent.Unreachable},
		"API Error: Repeated 529 Overloaded errors": {Code: agent.ModelFailed},
		"Something else went wrong":                 {Code: agent.Crashed},
	} {
		result, _ := driver.Replay(t, printed(`{"type":"assistant","message":{"id":"1","model":"<synthetic>","content":[{"type":"text","text":"`+said+`"}]}}`+"\n"+
			`{"type":"result","subtype":"success","is_error":true,"result":"`+said+`","total_cost_usd":0,"modelUsage":{},"permission_denials":[]}`), nil)
		if f := result.Failure; f == nil || f.Code != want.Code || !f.Until.Equal(want.Until) {
			t.Errorf("%s\ngives %+v, want %+v", said, f, want)
		}
	}
}

func TestDeniedToolsAreReportedOnceEach(t *testing.T) {
	t.Parallel()
	result, kinds := driver.Replay(t, printed(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"go vet"}}]}}`+"\n"+
		`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"c1"}`+"\n"+
		`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"I could not.","permission_denials":[{"tool_name":"Bash"},{"tool_name":"Write"},{"tool_name":"Bash"}]}`), nil)
	if result.Failure != nil || !slices.Equal(result.Denied, []string{"Bash", "Write"}) || kinds != "begin tool_call permission_denied usage end" {
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
			result, _ := driver.Replay(t, printed(test.line), &agent.Conversation{ID: session, Usage: before})
			if result.Usage != test.used || result.Conversation == nil || result.Conversation.Usage != test.now {
				t.Errorf("Usage = %+v of %+v, want %+v of %+v", result.Usage, result.Conversation, test.used, test.now)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	driver.ReadsAnything(f, `{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"command":7}},3,null]}}`)
}
