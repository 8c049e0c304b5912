package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// secondaryWait is what GitHub's documentation asks for if a secondary limit names no time.
const secondaryWait = time.Minute

// wrap says what was tried, and judges why it failed. It is nil for nil.
func (s *Server) wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, s.transport.Judged(err))...)
}

// errUnprotected is told from a protection that the account may not read by its message alone.
var errUnprotected error = unprotected{}

type unprotected struct{}

func (unprotected) Error() string { return "the branch is not protected" }

func (unprotected) Unwrap() error { return forge.ErrNotFound }

// refusal is the body of GitHub's answers of 400 and above.
type refusal struct {
	Message       string            `json:"message"`
	Documentation string            `json:"documentation_url"`
	Errors        []json.RawMessage `json:"errors"`
}

// text is the message with its details. A detail is a sentence or an object, which has one or not.
func (r refusal) text() string {
	parts := []string{r.Message}
	for _, raw := range r.Errors {
		var sentence string
		var detail struct{ Resource, Field, Code, Message string }
		if json.Unmarshal(raw, &sentence) != nil && json.Unmarshal(raw, &detail) == nil {
			sentence = cmp.Or(detail.Message, strings.TrimSpace(detail.Resource+" "+detail.Field+" "+detail.Code))
		}
		if sentence != "" {
			parts = append(parts, sentence)
		}
	}
	return strings.Join(parts, ": ")
}

func (s *Server) refusal(resp *http.Response, body []byte) error {
	var r refusal
	_ = json.Unmarshal(body, &r) // what is not understood is judged by its status
	failure := &forge.Failure{Kind: rest.KindOf(resp.StatusCode), Status: resp.StatusCode, RetryAfter: s.transport.Wait(resp.Header), Message: s.transport.Clean(r.text())}
	if resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests {
		limit(failure, resp, r)
	}
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		if r.Message == "Branch not protected" {
			return errUnprotected
		}
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotFound, failure.Message)
	}
	return failure
}

// limit tells a limit from a missing permission: GitHub answers 403 and 429 to both of its limits.
func limit(f *forge.Failure, resp *http.Response, r refusal) {
	primary := resp.Header.Get("X-Ratelimit-Remaining") == "0"
	secondary := resp.Header.Get("Retry-After") != "" || strings.HasSuffix(r.Documentation, "secondary-rate-limits") ||
		strings.HasSuffix(r.Documentation, "#abuse-rate-limits") || strings.Contains(strings.ToLower(r.Message), "secondary rate limit")
	switch {
	case primary || secondary || resp.StatusCode == http.StatusTooManyRequests:
		f.Kind = forge.Limited
		f.RetryAfter = cmp.Or(f.RetryAfter, secondaryWait)
	default:
		f.RetryAfter = 0
	}
}
