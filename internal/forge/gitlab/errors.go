package gitlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// limitedWait is how long to wait after a limit that names no time. GitLab's count by the minute.
const limitedWait = time.Minute

var errNoData = errors.New("GitLab's answer lacks what was asked for")

// wrap says what was tried, and judges why it failed. It is nil for nil.
func (s *Server) wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, s.transport.Judged(err))...)
}

// refusal judges an answer that is no success.
func (s *Server) refusal(resp *http.Response, body []byte) error {
	f := &forge.Failure{Kind: rest.KindOf(resp.StatusCode), Status: resp.StatusCode, RetryAfter: s.transport.Wait(resp.Header), Message: s.transport.Clean(said(body))}
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotFound, f.Message)
	case f.Kind == forge.Limited && f.RetryAfter == 0:
		f.RetryAfter = limitedWait
	case f.Kind == forge.Forbidden || f.Kind == forge.Unauthorized: // the headers of limits are on every answer
		f.RetryAfter = 0
	}
	return f
}

// said is the message of a refusal: a sentence, a list of them, or lists by field.
func said(body []byte) string {
	var refused struct {
		Message     any    `json:"message"`
		Error       any    `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &refused) != nil {
		return "" // what is not understood is judged by its status
	}
	var parts []string
	for _, part := range []string{flat(refused.Message), flat(refused.Error), refused.Description} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

func flat(message any) string {
	var parts []string
	switch message := message.(type) {
	case string:
		return message
	case []any:
		for _, part := range message {
			parts = append(parts, flat(part))
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(message)) {
			parts = append(parts, field+" "+flat(message[field]))
		}
	}
	return strings.Join(parts, ", ")
}

// status returns a failure of this status, if err is one.
func status(err error, status int) (*forge.Failure, bool) {
	var f *forge.Failure
	return f, errors.As(err, &f) && f.Status == status
}
