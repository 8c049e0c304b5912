package modeltest

import (
	"encoding/json"
	"iter"
	"maps"
	"net/http"
)

// responses is OpenAI's Responses API.
type responses struct{}

func (responses) read(_ *http.Request, body []byte) (Conversation, error) {
	var request struct {
		Model        string          `json:"model"`
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []offered       `json:"tools"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return Conversation{}, err
	}
	c := Conversation{API: Responses, Model: request.Model, Stream: request.Stream, System: request.Instructions}
	c.offers("", request.Tools)
	// The input is a single text, which is the user's message, or a list of items.
	var text string
	if json.Unmarshal(request.Input, &text) == nil {
		c.asks(text)
		return c, nil
	}
	var items []struct {
		Type    string    `json:"type"`
		Role    string    `json:"role"`
		Content texts     `json:"content"`
		Output  texts     `json:"output"`
		Tools   []offered `json:"tools"`
	}
	if err := json.Unmarshal(request.Input, &items); err != nil {
		return c, err
	}
	for _, item := range items {
		switch item.Type {
		case "function_call_output", "custom_tool_call_output":
			c.hearsOpenAI("tool", item.Output.String())
		case "additional_tools":
			c.offers("", item.Tools)
		case "message", "":
			c.hearsOpenAI(item.Role, item.Content.String())
		}
	}
	return c, nil
}

// offered is a tool of a request, or a namespace of them.
type offered struct {
	Type       string    `json:"type"`
	Name       string    `json:"name"`
	Parameters Schema    `json:"parameters"`
	Tools      []offered `json:"tools"`
}

func (c *Conversation) offers(namespace string, tools []offered) {
	for _, t := range tools {
		switch t.Type {
		case "function", "custom":
			c.Tools = append(c.Tools, Offer{Name: t.Name, Schema: t.Parameters, Namespace: namespace})
		case "namespace":
			c.offers(t.Name, t.Tools)
		} // else one that OpenAI itself performs
	}
}

func (responses) whole(a answer) any { return a.response("completed", a.items()) }

func (a answer) response(status string, output []object) object {
	response := object{"id": "resp_" + a.id, "object": "response", "created_at": a.created, "model": a.model,
		"status": status, "output": output, "error": nil, "incomplete_details": nil}
	if status == "completed" {
		response["usage"] = object{"input_tokens": a.usage.Input, "output_tokens": a.usage.Output,
			"total_tokens":         a.usage.Input + a.usage.Output,
			"input_tokens_details": object{"cached_tokens": a.usage.Cached}, "output_tokens_details": object{"reasoning_tokens": 0}}
	}
	return response
}

// items returns the complete items of the answer: its message and its calls.
func (a answer) items() []object {
	items := []object{}
	if a.text != "" {
		items = append(items, object{"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed", "content": []object{outputText(a.text)}})
	}
	for _, call := range a.calls {
		kind, key := call.itemWords()
		item := object{"type": kind, "id": "item_" + call.id, "call_id": call.id, "name": call.name, key: call.arguments, "status": "completed"}
		if call.namespace != "" {
			item["namespace"] = call.namespace
		}
		items = append(items, item)
	}
	return items
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []object{}}
}

// itemWords returns the API's kind of a call, and its key for the arguments: a tool that takes plain text is a custom one.
func (c call) itemWords() (kind, key string) {
	if c.plain {
		return "custom_tool_call", "input"
	}
	return "function_call", "arguments"
}

func (responses) refuse(f failed, header http.Header) refusal {
	body := f.openAI("input", header)
	// In a stream the response fails, which is how the API usually reports an overflow of the context.
	problem := body["error"].(object)
	response := answer{id: "failed", model: f.model, created: f.now.Unix()}.response("failed", []object{})
	response["error"] = object{"code": problem["code"], "message": problem["message"]}
	if problem["code"] == nil {
		response["error"] = object{"code": "server_error", "message": problem["message"]}
	}
	if f.fault.Kind == UsageLimited {
		body = object{"error": object{"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
			"resets_at": f.reset.Unix(), "resets_in_seconds": int(f.fault.RetryAfter.Seconds())}}
	}
	return refusal{statuses[f.fault.Kind], body,
		event{name: "response.failed", data: object{"type": "response.failed", "sequence_number": 0, "response": response}}}
}

func (responses) events(a answer) iter.Seq[event] {
	return func(yield func(event) bool) {
		number, stopped := 0, false
		emit := func(kind string, fields object) { // events are numbered
			if stopped {
				return
			}
			fields["type"], fields["sequence_number"] = kind, number
			number++
			stopped = !yield(event{name: kind, data: fields})
		}
		emit("response.created", object{"response": a.response("in_progress", []object{})})
		for i, item := range a.items() {
			isMessage, c := item["type"] == "message", call{}
			key, empty := "content", any([]object{})
			if !isMessage {
				c = a.calls[i-(len(a.items())-len(a.calls))]
				_, key = c.itemWords()
				empty = ""
			}
			// An item is announced as it will be, without its content.
			begun := maps.Clone(item)
			begun["status"], begun[key] = "in_progress", empty
			emit("response.output_item.added", object{"output_index": i, "item": begun})
			if isMessage {
				part := func(kind string, fields object) {
					fields["item_id"], fields["output_index"], fields["content_index"] = item["id"], i, 0
					emit(kind, fields)
				}
				part("response.content_part.added", object{"part": outputText("")})
				for piece := range pieces(a.text) {
					part("response.output_text.delta", object{"delta": piece})
				}
				part("response.output_text.done", object{"text": a.text})
				part("response.content_part.done", object{"part": outputText(a.text)})
			} else {
				kind, _ := c.itemWords()
				prefix := "response." + kind + "_" + key // response.function_call_arguments, response.custom_tool_call_input
				for piece := range pieces(c.arguments) {
					emit(prefix+".delta", object{"item_id": item["id"], "output_index": i, "delta": piece})
				}
				emit(prefix+".done", object{"item_id": item["id"], "output_index": i, key: c.arguments})
			}
			emit("response.output_item.done", object{"output_index": i, "item": item})
		}
		emit("response.completed", object{"response": a.response("completed", a.items())})
	}
}
