package gateway

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// responses is OpenAI's Responses API, whose last event repeats the whole answer with its usage. chat is its Chat Completions, which many others speak
// too; a stream reports its usage only if the request asks for it, in a chunk before "[DONE]". Both share the format of errors.
type (
	responses struct{ openAI }
	chat      struct{ openAI }
	openAI    struct{}
)

type response struct {
	Model  string         `json:"model"`
	Status string         `json:"status"`
	Error  jsontext.Value `json:"error"`
	Usage  *struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Detail struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	} `json:"usage"`
}

func (responses) read(document []byte, r *reading) {
	var event struct {
		response // of an answer that is not streamed

		Type     string         `json:"type"`
		Delta    jsontext.Value `json:"delta"`
		Response response       `json:"response"`
	}
	if !decode(document, &event) {
		return
	}
	switch event.Type {
	case "response.completed", "response.incomplete", "response.failed":
		r.ends(event.Response)
	case "error":
		if r.problem = problemIn(event.Error); r.problem == nil {
			r.problem = problemIn(document)
		}
	case "":
		r.ends(event.response)
	}
	if strings.HasSuffix(event.Type, ".delta") && event.Delta.Kind() == '"' {
		r.text += int64(len(event.Delta) - len(`""`))
	}
}

// ends records a response that has reached its end: complete, cut at a limit, or failed.
func (r *reading) ends(e response) {
	r.model, r.problem = e.Model, problemIn(e.Error)
	r.whole = e.Status == "completed" || e.Status == "incomplete"
	r.closed = r.whole
	if u := e.Usage; u != nil {
		r.report(tokens{input: u.Input, read: u.Detail.Cached, output: u.Output})
	}
}

func (chat) read(document []byte, r *reading) {
	var chunk struct {
		Model   string         `json:"model"`
		Error   jsontext.Value `json:"error"`
		Choices []struct {
			Finish string      `json:"finish_reason"`
			Delta  chatMessage `json:"delta"`
		} `json:"choices"`
		Usage *struct {
			Input  int64 `json:"prompt_tokens"`
			Output int64 `json:"completion_tokens"`
			Detail struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if string(document) == "[DONE]" {
		r.whole, r.closed = true, true
		return
	}
	if !decode(document, &chunk) {
		return
	}
	if chunk.Model != "" {
		r.model = chunk.Model
	}
	for _, choice := range chunk.Choices {
		r.says(choice.Delta.Content, choice.Delta.Reasoning)
		for _, call := range choice.Delta.Calls {
			r.says(call.Function.Arguments)
		}
		r.whole = r.whole || choice.Finish != ""
	}
	if u := chunk.Usage; u != nil {
		r.report(tokens{input: u.Input, read: u.Detail.Cached, output: u.Output})
	}
	if problem := problemIn(chunk.Error); problem != nil {
		r.problem = problem
	}
}

type chatMessage struct {
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (openAI) refusal(status int, message string) any {
	kind, code := "invalid_request_error", any(nil)
	switch status {
	case 401:
		code = "invalid_api_key"
	case 429:
		kind, code = "requests", "rate_limit_exceeded"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
}
