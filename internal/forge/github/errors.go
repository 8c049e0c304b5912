package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/forge"
)

const (
	// secondaryWait is what GitHub's documentation asks for if a secondary limit names no time.
	secondaryWait = time.Minute
	// maxWait bounds what a server can make us wait. GitHub's limits are reset hourly.
	maxWait = 24 * time.Hour
	// maxMessage bounds a server's text in an error.
	maxMessage = 500
)

// wrap says what was tried, and judges why it failed. It is nil for nil.
func (s *Server) wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, s.judged(err))...)
}

// judged turns errors into the port's.
func (s *Server) judged(err error) error {
	var inURL *url.Error // its text has the whole URL, which can be signed
	asked := errors.As(err, &inURL)
	if asked {
		err = inURL.Err
	}
	var failure *forge.Failure
	if errors.As(err, &failure) || known(err) || contextual(err) {
		return err
	}
	if !asked { // the answer can't be decoded, and the error quotes it
		err = fmt.Errorf("%w: %s", errNotAPI, s.clean(err.Error()))
	}
	return &forge.Failure{Kind: forge.Unavailable, Err: err}
}

// errUnprotected is told from a protection that the account may not read by its message alone.
var errUnprotected error = unprotected{}

type unprotected struct{}

func (unprotected) Error() string { return "the branch is not protected" }

func (unprotected) Unwrap() error { return forge.ErrNotFound }

// known reports whether an error is one of the port's already.
func known(err error) bool {
	for _, sentinel := range []error{forge.ErrNotFound, forge.ErrExists, forge.ErrNotReady, forge.ErrConflict, forge.ErrHeadMoved} {
		if errors.Is(err, sentinel) {
			return true
		}
	}
	return false
}

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

func (s *Server) refusal(resp *http.Response) error {
	var r refusal
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil {
		_ = json.Unmarshal(body, &r) // what is not understood is judged by its status
	}
	failure := &forge.Failure{Kind: kindOfStatus(resp.StatusCode), Status: resp.StatusCode, RetryAfter: wait(resp.Header, s.now()), Message: s.clean(r.text())}
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

func kindOfStatus(status int) forge.FailureKind {
	switch {
	case status == http.StatusUnauthorized:
		return forge.Unauthorized
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return forge.Forbidden
	case status >= 500, status < 400, status == http.StatusRequestTimeout:
		return forge.Unavailable
	}
	return forge.Refused
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

// wait is how long the server asks to wait, by the server's own clock where it matters; 0 if it doesn't say.
func wait(h http.Header, now time.Time) time.Duration {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	asked := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(asked, 10, 64); err == nil {
		return bounded(time.Duration(min(max(seconds, 0), int64(maxWait/time.Second))) * time.Second)
	}
	if at, err := http.ParseTime(asked); err == nil {
		return bounded(at.Sub(now))
	}
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && h.Get("X-Ratelimit-Remaining") == "0" {
		return bounded(time.Unix(reset, 0).Sub(now))
	}
	return 0
}

// bounded is at least a second: 0 would mean that the server didn't say.
func bounded(d time.Duration) time.Duration { return min(max(d, time.Second), maxWait) }

// clean makes one bounded line of a server's text, without the token if the server repeats it.
func (s *Server) clean(text string) string {
	if token := s.transport.last.Load(); token != nil {
		text = strings.ReplaceAll(text, *token, "[token]")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// contextual reports whether the caller ended the call.
func contextual(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
