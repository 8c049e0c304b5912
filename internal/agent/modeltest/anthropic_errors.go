package modeltest

import (
	"net/http"
	"strconv"
	"time"
)

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

func (anthropic) refuse(f failed, header http.Header) (status int, body any) {
	kinds := map[Kind][2]string{
		Unauthorized: {"authentication_error", "invalid x-api-key"},
		Forbidden:    {"permission_error", "Your API key does not have permission to use the specified resource."},
		RateLimited: {"rate_limit_error", "This request would exceed the rate limit for your organization of 50 requests per minute. " +
			"Please reduce the prompt length or the maximum tokens requested, or try again later."},
		UsageLimited: {"rate_limit_error", "This request would exceed your account's rate limit. Please try again later."},
		ServerError:  {"api_error", "Internal server error"},
		Overloaded:   {"overloaded_error", "Overloaded"},
		Overflow:     {"invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"},
	}
	// A key has limits per minute, a subscription per five hours and per week.
	switch f.fault.Kind {
	case RateLimited:
		header.Set("anthropic-ratelimit-requests-limit", "50")
		header.Set("anthropic-ratelimit-requests-remaining", "0")
		header.Set("anthropic-ratelimit-requests-reset", f.reset.Format(time.RFC3339))
		header.Set("anthropic-ratelimit-tokens-limit", "40000")
		header.Set("anthropic-ratelimit-tokens-remaining", "0")
		header.Set("anthropic-ratelimit-tokens-reset", f.reset.Format(time.RFC3339))
	case UsageLimited:
		reset := strconv.FormatInt(f.reset.Unix(), 10)
		header.Set("anthropic-ratelimit-unified-status", "rejected")
		header.Set("anthropic-ratelimit-unified-reset", reset)
		header.Set("anthropic-ratelimit-unified-representative-claim", "five_hour")
		header.Set("anthropic-ratelimit-unified-5h-status", "rejected")
		header.Set("anthropic-ratelimit-unified-5h-reset", reset)
		header.Set("anthropic-ratelimit-unified-5h-utilization", "1.0")
		header.Set("anthropic-ratelimit-unified-overage-status", "rejected")
	}
	f.retryAfter(header)
	status = statuses[f.fault.Kind]
	if f.fault.Kind == Overloaded {
		status = statusOverloaded
	}
	kind := kinds[f.fault.Kind]
	return status, object{"type": "error", "request_id": "req_scripted", "error": object{"type": kind[0], "message": kind[1]}}
}
