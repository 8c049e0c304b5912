package modeltest

import (
	"encoding/json"
	"iter"
	"net/http"
)

// chat is OpenAI's Chat Completions.
type chat struct{}

func (chat) read(_ *http.Request, body []byte) (Conversation, error) {
	var request struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role    string `json:"role"`
			Content texts  `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters Schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return Conversation{}, err
	}
	c := Conversation{API: Chat, Model: request.Model, Stream: request.Stream}
	for _, t := range request.Tools {
		c.Tools = append(c.Tools, Offer{Name: t.Function.Name, Schema: t.Function.Parameters})
	}
	for _, m := range request.Messages {
		c.hearsOpenAI(m.Role, m.Content.String())
	}
	return c, nil
}

// hearsOpenAI records one message of either of OpenAI's APIs.
func (c *Conversation) hearsOpenAI(role, text string) {
	switch role {
	case "system", "developer":
		c.instructs(text)
	case "user":
		c.asks(text)
	case "tool":
		c.Results = append(c.Results, text)
	}
}

func (chat) whole(a answer) any {
	var calls []object
	for i, call := range a.calls {
		calls = append(calls, call.delta(i, call.arguments))
	}
	return a.completion("chat.completion", object{"index": 0, "finish_reason": a.ends("tool_calls", "stop"),
		"message": object{"role": "assistant", "content": a.text, "tool_calls": calls}})
}

// completion returns a whole completion with its usage, or a chunk of one. The last chunk has no choices, and the usage.
func (a answer) completion(kind string, choices ...object) object {
	if choices == nil {
		choices = []object{}
	}
	completion := object{"id": "chatcmpl-" + a.id, "object": kind, "created": a.created, "model": a.model, "choices": choices}
	if kind == "chat.completion" || len(choices) == 0 {
		completion["usage"] = object{"prompt_tokens": a.usage.Input, "completion_tokens": a.usage.Output,
			"total_tokens": a.usage.Input + a.usage.Output, "prompt_tokens_details": object{"cached_tokens": a.usage.Cached}}
	}
	return completion
}

func (c call) delta(index int, arguments string) object {
	return object{"index": index, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": arguments}}
}

func (chat) events(a answer) iter.Seq[event] {
	return func(yield func(event) bool) {
		ok := true
		emit := func(choices ...object) {
			ok = ok && yield(event{data: a.completion("chat.completion.chunk", choices...)})
		}
		say := func(delta object) { emit(object{"index": 0, "delta": delta, "finish_reason": nil}) }
		say(object{"role": "assistant", "content": ""})
		for piece := range pieces(a.text) {
			say(object{"content": piece})
		}
		for i, call := range a.calls {
			say(object{"tool_calls": []object{call.delta(i, "")}})
			for piece := range pieces(call.arguments) {
				say(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}})
			}
		}
		emit(object{"index": 0, "delta": object{}, "finish_reason": a.ends("tool_calls", "stop")})
		emit()
		_ = ok && yield(event{data: "[DONE]"})
	}
}

func (chat) refuse(f failed, header http.Header) refusal {
	body := f.openAI("messages", header)
	return refusal{statuses[f.fault.Kind], body, event{data: body}}
}

// openAI returns an error in the words that both of OpenAI's APIs share, and sets the headers of its limit. input is the API's name for the
// conversation. A plan's limits have headers of their own.
func (f failed) openAI(input string, header http.Header) object {
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
	return object{"error": problem}
}
