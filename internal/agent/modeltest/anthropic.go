package modeltest

import (
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// anthropic is Anthropic's Messages API.
type anthropic struct{}

func (anthropic) read(_ *http.Request, body []byte) (Conversation, error) {
	var request struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		System   texts  `json:"system"`
		Messages []struct {
			Role    string `json:"role"`
			Content texts  `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name        string `json:"name"`
			InputSchema Schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return Conversation{}, err
	}
	c := Conversation{API: Anthropic, Model: request.Model, Stream: request.Stream, System: request.System.String()}
	for _, t := range request.Tools {
		c.Tools = append(c.Tools, Offer{Name: t.Name, Schema: t.InputSchema})
	}
	for _, m := range request.Messages {
		if m.Role == "user" {
			// A user's message also carries results of calls. Agents put their own reminders beside them.
			isResult := func(p part) bool { return p.Type == "tool_result" }
			if !slices.ContainsFunc(m.Content, isResult) {
				c.asks(m.Content.String())
				continue
			}
			for _, p := range m.Content {
				if isResult(p) {
					c.Results = append(c.Results, p.Content.String())
				}
			}
		}
	}
	return c, nil
}

func (anthropic) whole(a answer) any {
	var content []object
	if a.text != "" {
		content = append(content, object{"type": "text", "text": a.text})
	}
	for _, call := range a.calls {
		content = append(content, object{"type": "tool_use", "id": call.id, "name": call.name, "input": json.RawMessage(call.arguments)})
	}
	message := a.message(content)
	message["stop_reason"] = a.ends("tool_use", "end_turn")
	return message
}

func (a answer) message(content []object) object {
	if content == nil {
		content = []object{}
	}
	return object{"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
		"stop_reason": nil, "stop_sequence": nil, "usage": object{
			"input_tokens": a.usage.Input - a.usage.Cached, "cache_read_input_tokens": a.usage.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": a.usage.Output}}
}

func (anthropic) events(a answer) iter.Seq[event] {
	return func(yield func(event) bool) {
		ok := true
		emit := func(kind string, fields object) {
			fields["type"] = kind
			ok = ok && yield(event{name: kind, data: fields})
		}
		start := a
		start.usage.Output = 1 // not known yet; message_delta has it
		emit("message_start", object{"message": start.message(nil)})
		emit("ping", object{})
		index := 0
		block := func(start object, delta, key, text string) {
			emit("content_block_start", object{"index": index, "content_block": start})
			for piece := range pieces(text) {
				emit("content_block_delta", object{"index": index, "delta": object{"type": delta, key: piece}})
			}
			emit("content_block_stop", object{"index": index})
			index++
		}
		if a.text != "" {
			block(object{"type": "text", "text": ""}, "text_delta", "text", a.text)
		}
		for _, call := range a.calls {
			block(object{"type": "tool_use", "id": call.id, "name": call.name, "input": object{}}, "input_json_delta", "partial_json", call.arguments)
		}
		emit("message_delta", object{"delta": object{"stop_reason": a.ends("tool_use", "end_turn"), "stop_sequence": nil},
			"usage": object{"output_tokens": a.usage.Output}})
		emit("message_stop", object{})
	}
}

// statusOverloaded is Anthropic's own.
const statusOverloaded = 529

func (anthropic) refuse(f failed, header http.Header) refusal {
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
	status := statuses[f.fault.Kind]
	if f.fault.Kind == Overloaded {
		status = statusOverloaded
	}
	kind := kinds[f.fault.Kind]
	body := object{"type": "error", "request_id": "req_scripted", "error": object{"type": kind[0], "message": kind[1]}}
	return refusal{status, body, event{name: "error", data: body}}
}
