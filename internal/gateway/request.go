package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxRequest is the largest request, in bytes. A context of a million tokens is some MiB, and pictures are more.
const maxRequest = 64 << 20

// errRequest: the request is not passed on; the text tells the agent why.
var errRequest = errors.New("not passed on")

// receive reads a whole request.
func (x *exchange) receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, fmt.Errorf("%w: a request in another encoding cannot be read", errRequest)
	}
	if r.ContentLength > maxRequest {
		return nil, &http.MaxBytesError{Limit: maxRequest}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	// The deadline was for the request only; the server keeps reading to notice when the client disconnects.
	if err := x.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if !x.route.answers {
		return body, nil
	}
	return x.understand(body)
}

// understand finds the model in a request, and adds the option that makes a stream report its usage. It refuses a duplicate key, because the vendor
// might use the other one.
func (x *exchange) understand(body []byte) ([]byte, error) {
	var request map[string]jsontext.Value
	if err := json.Unmarshal(body, &request, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("%w: the request is not one JSON object", errRequest)
	}
	if x.route.model == "" && json.Unmarshal(request["model"], &x.model, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil, fmt.Errorf("%w: the request names no model", errRequest)
	}
	if isTrue(request["background"]) {
		return nil, fmt.Errorf("%w: what a background request uses would not be seen", errRequest)
	}
	// Each vendor has names of its own for the limits of an answer.
	var nested map[string]jsontext.Value
	_ = json.Unmarshal(request["generationConfig"], &nested) // Gemini's; if missing there is nothing to read
	figure := func(from map[string]jsontext.Value, name string) (n int64) {
		_ = json.Unmarshal(from[name], &n) // if the type is wrong, the vendor refuses it
		return believed(n)
	}
	w := wants{output: max(figure(request, "max_tokens"), figure(request, "max_completion_tokens"),
		figure(request, "max_output_tokens"), figure(nested, "maxOutputTokens"))}
	if w.output == 0 {
		w.output = usualOutput
	}
	w.output = believed(w.output * max(1, min(maxChoices, max(figure(request, "n"), figure(nested, "candidateCount")))))
	for _, name := range []string{"thinking", "reasoning", "reasoning_effort", "max_completion_tokens"} {
		value := bytes.TrimSpace(request[name])
		w.hidden = w.hidden || len(value) > 0 && string(value) != "null" && !bytes.Contains(value, []byte(`"disabled"`))
	}
	w.hidden = w.hidden || !isTrue(request["stream"]) // such an answer is complete before any of it is seen
	x.wants = w
	if strings.HasSuffix(x.path, ":streamGenerateContent") { // Gemini says it in the path only
		x.wants.hidden = false
	}
	if _, ok := x.route.dialect.(chat); !ok || !isTrue(request["stream"]) {
		return body, nil
	}
	return wantUsage(body, request)
}

func isTrue(v jsontext.Value) bool { return string(bytes.TrimSpace(v)) == "true" }

// wantUsage asks for the usage at the end of a stream.
func wantUsage(body []byte, request map[string]jsontext.Value) ([]byte, error) {
	options := map[string]jsontext.Value{}
	if reported := request["stream_options"]; len(reported) > 0 && json.Unmarshal(reported, &options) != nil {
		return nil, fmt.Errorf("%w: stream_options is no object", errRequest)
	}
	if isTrue(options["include_usage"]) {
		return body, nil
	}
	if options == nil {
		options = map[string]jsontext.Value{}
	}
	options["include_usage"] = jsontext.Value("true")
	value, err := json.Marshal(options, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("ask for the usage: %w", err)
	}
	request["stream_options"] = value
	if body, err = json.Marshal(request, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("ask for the usage: %w", err)
	}
	return body, nil
}

const (
	// usualOutput is reserved for a request without a limit of its own; it is as much as agents ask for that set one.
	usualOutput = 32_000
	// leastReserved covers what a vendor adds even to a small request, such as its description of tools.
	leastReserved = 4096
	// A token of text is rarely shorter than 3 bytes or longer than 6.
	shortToken, longToken = 3, 6
	// pictureBytes is the least size of a token of a picture or document. An encoded string counts as one if it is longer than longString.
	pictureBytes, longString = 16, 8 << 10
	// encodedBytes are those of base64, in both of its alphabets. Text of any length has spaces or other punctuation.
	encodedBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=-_"
)

// wants is what a request says about its answer.
type wants struct {
	// output is the most tokens of the answer. hidden: some of them are billed without being seen.
	output int64
	hidden bool
}

// maxChoices is the most parallel answers that a request is believed to ask for.
const maxChoices = 128

// sizes returns the bytes of a request's text and of its encoded data, such as pictures.
func sizes(body []byte) (text, encoded int64) {
	for rest := body; ; {
		open := bytes.IndexByte(rest, '"')
		if open < 0 {
			return int64(len(body)) - encoded, encoded
		}
		rest = rest[open+1:]
		end := 0 // of the string
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(rest))
		if s := rest[:end]; len(s) > longString && len(bytes.Trim(s[:longString], encodedBytes)) == 0 {
			encoded += int64(len(s))
		}
		rest = rest[min(end+1, len(rest)):]
	}
}
