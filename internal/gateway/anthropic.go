package gateway

import "github.com/go-json-experiment/json/jsontext"

// anthropic is the Messages API.
type anthropic struct{}

type anthropicUsage struct {
	Input   *int64 `json:"input_tokens"`
	Read    *int64 `json:"cache_read_input_tokens"`
	Written *int64 `json:"cache_creation_input_tokens"`
	Output  int64  `json:"output_tokens"`
}

type anthropicMessage struct {
	Model string          `json:"model"`
	Usage *anthropicUsage `json:"usage"`
}

func (anthropic) read(document []byte, r *reading) {
	var event struct {
		anthropicMessage // of an answer that is not streamed

		Type    string           `json:"type"`
		Message anthropicMessage `json:"message"`
		Delta   struct {
			Text     string `json:"text"`
			JSON     string `json:"partial_json"`
			Thinking string `json:"thinking"`
		} `json:"delta"`
		Error jsontext.Value `json:"error"`
	}
	if !decode(document, &event) {
		return
	}
	switch event.Type {
	case "message_start":
		r.begins(event.Message)
	case "content_block_delta":
		r.says(event.Delta.Text, event.Delta.JSON, event.Delta.Thinking)
	case "message_delta":
		r.tellAnthropic(event.Usage)
	case "message_stop":
		r.whole, r.closed = true, true
	case "message":
		r.begins(event.anthropicMessage)
		r.whole = true
	case "error":
		r.problem = problemIn(event.Error)
	}
}

func (r *reading) begins(m anthropicMessage) {
	r.model = m.Model
	r.tellAnthropic(m.Usage)
}

// tellAnthropic records a usage. The one at the end of a stream leaves out what the one at its beginning reported.
func (r *reading) tellAnthropic(u *anthropicUsage) {
	if u == nil {
		return
	}
	t := r.told
	uncached := t.input - t.read - t.written
	for _, figure := range []struct {
		to   *int64
		told *int64
	}{{&uncached, u.Input}, {&t.read, u.Read}, {&t.written, u.Written}} {
		if figure.told != nil {
			*figure.to = believed(*figure.told)
		}
	}
	t.input, t.output = uncached+t.read+t.written, u.Output
	r.tell(t)
}

func (anthropic) refusal(status int, message string) any {
	kind := "invalid_request_error"
	switch status {
	case 401:
		kind = "authentication_error"
	case 413:
		kind = "request_too_large"
	case 429:
		kind = "rate_limit_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}
