package modeltest

import "net/http"

// openAI returns an error in the words that both of OpenAI's APIs share. Input is what the API calls a
// conversation.
func (f failed) openAI(input string) object {
	type words struct{ kind, code, message string }
	kinds := map[Kind]words{
		Unauthorized: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."},
		Forbidden:    {"invalid_request_error", "model_not_found", "Project does not have access to model `" + f.model + "`"},
		RateLimited: {"tokens", "rate_limit_exceeded", "Rate limit reached for " + f.model + " on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200. " +
			"Please try again in " + f.seconds() + "s. Visit https://platform.openai.com/account/rate-limits to learn more."},
		UsageLimited: {"insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
		ServerError:  {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
		Overloaded:   {"server_error", "server_is_overloaded", "Our servers are currently overloaded. Please try again later."},
		Overflow:     {"invalid_request_error", "context_length_exceeded", "Your input exceeds the context window of this model. Please adjust your input and try again."},
	}
	w := kinds[f.fault.Kind]
	problem := object{"message": w.message, "type": w.kind, "param": nil, "code": w.code}
	if f.fault.Kind == Overflow {
		problem["param"] = input
	}
	if w.code == "" {
		problem["code"] = nil
	}
	return object{"error": problem}
}

// openAILimits sets the headers of the limits. A plan's have names of their own.
func (f failed) openAILimits(header http.Header) {
	f.retryAfter(header)
	switch f.fault.Kind {
	case RateLimited:
		header.Set("x-ratelimit-limit-requests", "500")
		header.Set("x-ratelimit-remaining-requests", "499")
		header.Set("x-ratelimit-reset-requests", "120ms")
		header.Set("x-ratelimit-limit-tokens", "30000")
		header.Set("x-ratelimit-remaining-tokens", "0")
		header.Set("x-ratelimit-reset-tokens", f.seconds()+"s")
	case UsageLimited:
		header.Set("x-codex-primary-used-percent", "100")
		header.Set("x-codex-primary-window-minutes", "300")
		header.Set("x-codex-primary-reset-after-seconds", f.seconds())
	}
}
