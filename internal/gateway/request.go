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

// maxRequest bounds a request. Contexts of a million tokens are some MiB, pictures more.
const maxRequest = 64 << 20

// errRequest is of a request that is not passed on, with the reason for the agent.
var errRequest = errors.New("not passed on")

// receive reads a request whole.
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
	// The deadline was for the request; the server keeps reading to see whether the client goes.
	if err := x.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if !x.route.answers {
		return body, nil
	}
	return x.understand(body)
}

// understand finds the model in a request, and has the usage told where it would not be. A key that
// is there twice is refused: upstream might believe the other one.
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
	x.wants = wanted(request)
	if strings.HasSuffix(x.path, ":streamGenerateContent") { // Gemini's, which says it nowhere else
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
	if told := request["stream_options"]; len(told) > 0 && json.Unmarshal(told, &options) != nil {
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
