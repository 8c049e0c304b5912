package modeltest

import (
	"encoding/json"
	"iter"
	"net/http"
	"regexp"
)

// dialect is one API.
type dialect interface {
	// read parses a request. Some APIs have the model in the path.
	read(r *http.Request, body []byte) (Conversation, error)
	// whole returns an answer that isn't streamed, events the stream of one that is.
	whole(answer) any
	events(answer) iter.Seq[event]
	// refuse returns an error, and sets the headers of a response of its own.
	refuse(failed, http.Header) refusal
}

// refusal is an error in an API's words: as a response of its own, and as an event within a stream.
type refusal struct {
	status int
	body   any
	event  event
}

// answer is what the model says, before it is put into an API's words.
type answer struct {
	// id is unique, and legal as the end of every API's ids.
	id      string
	model   string
	text    string
	calls   []call
	usage   Usage
	created int64 // Unix seconds
}

// ends returns the reason for the end of the answer: byCalls if it has calls, otherwise said.
func (a answer) ends(byCalls, said string) string {
	if len(a.calls) > 0 {
		return byCalls
	}
	return said
}

// event is one server-sent event. Data is marshaled as JSON, unless it is a string. A bare one is
// its data alone.
type event struct {
	name string
	data any
	bare bool
}

// object is a JSON object; Go writes its keys in alphabetical order.
type object = map[string]any

// route is where a kind of request arrives, whatever the path before it.
type route struct {
	method string
	path   *regexp.Regexp
	api    API
	// answers returns the response to a request of this size; nil if a model answers.
	answers func(size int) any
}

var dialects = map[API]dialect{Anthropic: anthropic{}, Responses: responses{}, Chat: chat{}, Gemini: gemini{}}

var routes = []route{
	{http.MethodPost, regexp.MustCompile(`/messages$`), Anthropic, nil},
	{http.MethodPost, regexp.MustCompile(`/messages/count_tokens$`), Anthropic, countTokens("input_tokens")},
	{http.MethodPost, regexp.MustCompile(`/responses$`), Responses, nil},
	{http.MethodPost, regexp.MustCompile(`/chat/completions$`), Chat, nil},
	{http.MethodPost, regexp.MustCompile(`/models/[^/]+:(stream)?[gG]enerateContent$`), Gemini, nil},
	{http.MethodPost, regexp.MustCompile(`/models/[^/]+:countTokens$`), Gemini, countTokens("totalTokens")},
	{http.MethodGet, regexp.MustCompile(`/v1beta/models$`), Gemini, listModels},
	{http.MethodGet, regexp.MustCompile(`/models$`), Chat, listModels},
}

// Model is the one that a list of models names; every other name is answered, too.
const Model = "scripted-1"

// listModels answers in the formats of all APIs at once: each client reads its own keys.
func listModels(int) any {
	return object{
		"object": "list", "has_more": false, "first_id": Model, "last_id": Model,
		"data": []object{{"id": Model, "object": "model", "type": "model", "display_name": Model,
			"created": 1767225600, "created_at": "2026-01-01T00:00:00Z", "owned_by": "signalbox"}},
		"models": []object{{"name": "models/" + Model, "displayName": Model, "inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16,
			"supportedGenerationMethods": []string{"generateContent", "countTokens"}}},
	}
}

// bytesPerToken is a fair guess for English and code.
const bytesPerToken = 4

// countTokens answers with an estimate under this key.
func countTokens(key string) func(int) any {
	return func(size int) any { return object{key: size/bytesPerToken + 1} }
}

// pieces cuts text as models stream it: a word or two at a time, but never
// more than a few hundred of them. A character stays whole.
func pieces(text string) iter.Seq[string] {
	size := max(12, len(text)/256)
	return func(yield func(string) bool) {
		for len(text) > size {
			end := size
			for end < len(text) && text[end]&0xC0 == 0x80 {
				end++
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
		if text != "" {
			yield(text)
		}
	}
}

// encoded returns a value as JSON. Everything that is passed here can be marshaled.
func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic("modeltest: marshal " + err.Error())
	}
	return text
}
