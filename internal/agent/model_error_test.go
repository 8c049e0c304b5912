package agent_test

import (
	"testing"

	"signalbox/internal/agent"
)

func TestModelErrorReadsWordsBeforeTheStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, words string
		status      int
		want        agent.FailureCode
	}{
		{name: "a minute's limit", status: 429, words: "Rate limit reached for m1 on tokens per min", want: agent.RateLimited},
		{name: "a plan's limit", status: 429, words: `{"code":"insufficient_quota"}: You exceeded your current quota`, want: agent.UsageLimited},
		{name: "an account's limit", status: 429, words: "This request would exceed your account's rate limit.", want: agent.UsageLimited},
		{name: "a limit of which nothing else is said", status: 429, want: agent.RateLimited},
		{name: "too many tokens in a minute is no overflow", words: "rate limit: prompt is too long for this minute", want: agent.RateLimited},
		{name: "a conversation that is too long", status: 400, words: "prompt is too long: 208310 tokens > 200000 maximum", want: agent.Overflowed},
		{name: "Google's", words: "The input token count (1200000) exceeds the maximum number", want: agent.Overflowed},
		{name: "a wrong key", status: 401, words: "invalid x-api-key", want: agent.Unauthorized},
		{name: "a key that may not", status: 403, want: agent.Unauthorized},
		{name: "a request that is not taken", status: 404, words: "model: no-such", want: agent.Refused},
		{name: "a server that fails", status: 500, words: "connection lost to backend", want: agent.ModelFailed},
		{name: "an overloaded one, without a status", words: `{"type":"overloaded_error"}`, want: agent.ModelFailed},
		{name: "a connection that is refused", words: "Connection error.", want: agent.Unreachable},
		{name: "a stream that broke", words: "terminated", want: agent.Unreachable},
		{name: "words that nobody knows", words: "gone fishing", want: agent.Crashed},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := agent.ModelError(test.status, test.words); got != test.want {
				t.Errorf("ModelError(%d, %q) = %s, want %s", test.status, test.words, got, test.want)
			}
		})
	}
}
