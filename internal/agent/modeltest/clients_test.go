package modeltest_test

import (
	"fmt"
	"net/http"

	"signalbox/internal/agent/modeltest"
)

// client speaks one API as agents do. Requests are written out as their vendors document them.
type client struct {
	api modeltest.API
	// path is for an answer at once and for a stream.
	path, streamPath string
	// messages are a prompt and the calls of a tool with their results so far; request is the body
	// with messages, and with a tool for files.
	messages func(prompt string, results []string) string
	request  func(messages string, stream bool) string
	// authorize is how this API's clients send their key.
	authorize func(h http.Header, key string)
	// whole and event are where an answer says what it says, and where an event of a stream does.
	whole, event spoken
	// last is what the data of a stream's last event holds.
	last string
}

// spoken are paths of keys and indexes; one with a "?" is for objects of the type before it.
type spoken struct{ text, name, arguments string }

var clients = []client{
	{api: modeltest.Anthropic, path: "/v1/messages", streamPath: "/v1/messages?beta=true",
		messages: func(prompt string, results []string) string {
			messages := text(`{"role":"user","content":[{"type":"text","text":%q}]}`, prompt)
			for i, result := range results {
				messages += text(`,{"role":"assistant","content":[{"type":"tool_use","id":"t%d","name":"Write","input":{}}]}`, i)
				messages += text(`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q},{"type":"text","text":"<system-reminder>"}]}`, i, result)
			}
			return messages
		},
		request: func(messages string, stream bool) string {
			return text(`{"model":"m","stream":%t,"system":[{"type":"text","text":"Be good."}],"messages":[%s],"tools":[{"name":"Write","input_schema":%s}]}`,
				stream, messages, schema("file_path"))
		},
		authorize: func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		whole:     spoken{"content.0.text", "content.0.name", "content.0.input"},
		event:     spoken{"delta.text", "content_block.name", "delta.partial_json"},
		last:      `"type":"message_stop"`},
	{api: modeltest.Responses, path: "/v1/responses", streamPath: "/v1/responses",
		messages: func(prompt string, results []string) string {
			input := text(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, prompt)
			for i, result := range results {
				input += text(`,{"type":"function_call","call_id":"c%d","name":"write","arguments":"{}"},{"type":"function_call_output","call_id":"c%d","output":%q}`, i, i, result)
			}
			return input
		},
		request: func(input string, stream bool) string {
			return text(`{"model":"m","stream":%t,"instructions":"Be good.","input":[%s],"tools":[{"type":"function","name":"write","parameters":%s},{"type":"web_search"}]}`,
				stream, input, schema("path"))
		},
		authorize: bearer,
		whole:     spoken{"output.0.content.0.text", "output.0.name", "output.0.arguments"},
		event:     spoken{"response.output_text.delta?delta", "response.output_item.added?item.name", "response.function_call_arguments.delta?delta"},
		last:      `"type":"response.completed"`},
	{api: modeltest.Chat, path: "/v1/chat/completions", streamPath: "/v1/chat/completions",
		messages: func(prompt string, results []string) string {
			messages := text(`{"role":"user","content":%q}`, prompt)
			for i, result := range results {
				messages += text(`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d"}]},{"role":"tool","tool_call_id":"c%d","content":%q}`, i, i, result)
			}
			return messages
		},
		request: func(messages string, stream bool) string {
			return text(`{"model":"m","stream":%t,"messages":[{"role":"system","content":"Be good."},%s],"tools":[{"type":"function","function":{"name":"write","parameters":%s}}]}`,
				stream, messages, schema("filePath"))
		},
		authorize: bearer,
		whole:     spoken{"choices.0.message.content", "choices.0.message.tool_calls.0.function.name", "choices.0.message.tool_calls.0.function.arguments"},
		event:     spoken{"choices.0.delta.content", "choices.0.delta.tool_calls.0.function.name", "choices.0.delta.tool_calls.0.function.arguments"},
		last:      "[DONE]"},
	{api: modeltest.Gemini, path: "/v1beta/models/m:generateContent", streamPath: "/v1beta/models/m:streamGenerateContent?alt=sse",
		messages: func(prompt string, results []string) string {
			contents := text(`{"role":"user","parts":[{"text":%q}]}`, prompt)
			for _, result := range results {
				contents += text(`,{"role":"model","parts":[{"functionCall":{"name":"write_file","args":{}}}]}`)
				contents += text(`,{"role":"user","parts":[{"functionResponse":{"name":"write_file","response":{"output":%q}}}]}`, result)
			}
			return contents
		},
		request: func(contents string, _ bool) string {
			return text(`{"systemInstruction":{"role":"user","parts":[{"text":"Be good."}]},"contents":[%s],"tools":[{"functionDeclarations":[{"name":"write_file","parametersJsonSchema":%s}]}]}`,
				contents, schema("file_path"))
		},
		authorize: func(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) },
		whole:     spoken{"candidates.0.content.parts.0.text", "candidates.0.content.parts.0.functionCall.name", "candidates.0.content.parts.0.functionCall.args"},
		event:     spoken{"candidates.0.content.parts.0.text", "candidates.0.content.parts.0.functionCall.name", "candidates.0.content.parts.0.functionCall.args"},
		last:      `"finishReason":"STOP"`},
}

func text(format string, a ...any) string { return fmt.Sprintf(format, a...) }

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// schema is that of a tool which writes files.
func schema(path string) string {
	return text(`{"type":"object","properties":{%q:{"type":"string"},"content":{"type":"string"},"description":{"type":"string"}},"required":[%q,"content","description"]}`, path, path)
}
