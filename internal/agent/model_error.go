package agent

import (
	"net/http"
	"regexp"
	"sync"
)

// ModelError returns the meaning of an error from a model's server, by its HTTP status (zero if unknown) and its words. It serves agents that pass
// on any vendor's words: opencode and pi with every server, Codex and Gemini CLI with their vendor's. The words are those of modeltest's recordings
// and of the vendors' references for errors. An unknown error is Crashed.
func ModelError(status int, words string) FailureCode {
	for _, meaning := range meanings() {
		if meaning.words.MatchString(words) {
			return meaning.code
		}
	}
	// 402 means that the account needs a person, like a wrong key; 413 is how servers in front of a model refuse what is too long.
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return Unauthorized
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status == http.StatusRequestEntityTooLarge:
		return Overflowed
	case status == http.StatusRequestTimeout:
		return Unreachable
	case status >= http.StatusInternalServerError:
		return ModelFailed
	case status >= http.StatusBadRequest:
		return Refused
	}
	// Without a status only words are left. They are vague, so they count last: "connect" is in many sentences.
	for _, meaning := range wordless() {
		if meaning.words.MatchString(words) {
			return meaning.code
		}
	}
	return Crashed
}

// meaning is what an error means whose words match.
type meaning struct {
	words *regexp.Regexp
	code  FailureCode
}

var (
	// meanings decide what a status leaves open: whether a 429 passes within a minute, or whether a 400 means that the conversation is too long.
	// Limits come first, because "too many tokens per minute" is one.
	meanings = sync.OnceValue(func() []meaning {
		return []meaning{
			{regexp.MustCompile(`(?i)insufficient_quota|usage.?limit|account.s rate limit|daily quota|quota will reset|credit balance|billing_hard_limit`), UsageLimited},
			{regexp.MustCompile(`(?i)rate.?limit|too many requests|resource_exhausted|exceeded your current quota`), RateLimited},
			{regexp.MustCompile(`(?i)prompt is too long|context.?length.?exceeded|exceeds the context window|maximum context length|` +
				`input token count.*exceeds|context.?window.?exceeds|contextoverflow|request_too_large`), Overflowed},
		}
	})
	// wordless are for errors without a status: a failed connection, or an error within a stream, which begins with status 200.
	wordless = sync.OnceValue(func() []meaning {
		return []meaning{
			{regexp.MustCompile(`(?i)authentication_error|invalid.{0,9}api.?key|unauthenticated|no api key|permission_error`), Unauthorized},
			{regexp.MustCompile(`(?i)overloaded|internal server error|api_error|server_error|service unavailable`), ModelFailed},
			{regexp.MustCompile(`(?i)connect|network|socket|terminated|fetch failed|stream ended|time.?d? ?out|econn|enotfound|getaddrinfo|closed`), Unreachable},
			{regexp.MustCompile(`(?i)invalid_request_error|not_found_error|model.{0,80}not found|no such model`), Refused},
		}
	})
)
