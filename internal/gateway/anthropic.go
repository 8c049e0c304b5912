package gateway

import "github.com/go-json-experiment/json/jsontext"

// anthropic is the Messages API. A stream ends with message_stop; without it the answer is cut off. Its usage comes in two parts: message_start has
// the input, message_delta the output so far.
type anthropic struct{}

// anthropicUsage counts input without what was read from a cache or written to one. A figure that is left out is unchanged, not zero.
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
		r.reportAnthropic(event.Usage)
	case "message_stop":
		r.whole, r.closed = true, true
	case "message":
		r.begins(event.anthropicMessage)
		r.whole = true
	case "error":
		r.problem = problemIn(event.Error)
	}
}

// begins records the model and the first usage.
func (r *reading) begins(m anthropicMessage) {
	r.model = m.Model
	r.reportAnthropic(m.Usage)
}

// reportAnthropic records a usage. The one at the end of a stream leaves out what the one at its beginning reported.
func (r *reading) reportAnthropic(u *anthropicUsage) {
	if u == nil {
		return
	}
	t := r.reported
	uncached := t.input - t.read - t.written
	for _, figure := range []struct {
		to       *int64
		reported *int64
	}{{&uncached, u.Input}, {&t.read, u.Read}, {&t.written, u.Written}} {
		if figure.reported != nil {
			*figure.to = believed(*figure.reported)
		}
	}
	t.input, t.output = uncached+t.read+t.written, u.Output
	r.report(t)
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
