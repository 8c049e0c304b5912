package gitea

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/forge"
)

const (
	// maxMessage bounds a server's text in an error.
	maxMessage = 500
	// maxWait bounds what a server can make us wait.
	maxWait = 24 * time.Hour
	// limitedWait is how long to wait after a limit that names no time.
	limitedWait = time.Minute
)

// refusal judges an answer that is no success.
func (s *Server) refusal(resp *http.Response, body []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // what is not understood is judged by its status
	f := &forge.Failure{Kind: kindOf(resp.StatusCode), Status: resp.StatusCode, Message: line(said.Message), RetryAfter: s.retryAfter(resp.Header)}
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotFound, f.Message)
	case resp.StatusCode == http.StatusForbidden && f.RetryAfter > 0: // a proxy before Gitea, which has no limits itself
		f.Kind = forge.Limited
	case f.Kind == forge.Limited && f.RetryAfter == 0:
		f.RetryAfter = limitedWait
	}
	if resp.StatusCode/100 == 3 {
		f.Message = "the repository has another address: " + line(withoutQuery(resp.Header.Get("Location")))
	}
	return f
}

func kindOf(status int) forge.FailureKind {
	switch {
	case status == http.StatusUnauthorized:
		return forge.Unauthorized
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return forge.Forbidden
	case status == http.StatusTooManyRequests:
		return forge.Limited
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status < 200:
		return forge.Unavailable
	}
	return forge.Refused
}

// unreachable is the failure of a call without a whole answer; the context's error if that ended it.
func unreachable(ctx context.Context, err error) error {
	if ended := context.Cause(ctx); ended != nil {
		return ended
	}
	var inURL *url.Error // its text repeats the address
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return &forge.Failure{Kind: forge.Unavailable, Err: err}
}

// retryAfter is how long the server asks to wait, by its own clock; 0 if it doesn't say.
func (s *Server) retryAfter(h http.Header) time.Duration {
	asked := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(asked); err == nil && seconds >= 0 {
		return min(max(time.Duration(min(seconds, int(maxWait/time.Second)))*time.Second, time.Second), maxWait)
	}
	at, err := http.ParseTime(asked)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = s.now()
	}
	return min(max(at.Sub(now), time.Second), maxWait)
}

// line makes one bounded line of a server's text.
func line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// withoutQuery is an address without what may be signed or secret in it.
func withoutQuery(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	at.User, at.RawQuery, at.Fragment = nil, "", ""
	return at.String()
}

// mergeRefusal judges the answer to a merge: Gitea says 405 and 409 to much, and only the text tells what.
func mergeRefusal(err error) error {
	var f *forge.Failure
	if !errors.As(err, &f) {
		return err
	}
	says := func(text string) bool { return strings.Contains(f.Message, text) }
	switch {
	case f.Status == http.StatusMethodNotAllowed && says("already merged"):
		return nil
	case f.Status == http.StatusMethodNotAllowed && says("not allowed to merge"):
		f.Kind = forge.Forbidden
	case f.Status == http.StatusMethodNotAllowed && (says("merge style") || says("Work in progress")):
	case f.Status == http.StatusMethodNotAllowed: // "Please try again later" while it computes, or what its protection misses
		return fmt.Errorf("%w: the server says %q", forge.ErrNotReady, f.Message)
	case f.Status == http.StatusConflict && says("head out of date"):
		return fmt.Errorf("%w: the server says %q", forge.ErrHeadMoved, f.Message)
	case f.Status == http.StatusConflict && (says("merge push out of date") || says("cannot lock ref")): // another merge came between
		return fmt.Errorf("%w: the server says %q", forge.ErrNotReady, f.Message)
	case f.Status == http.StatusConflict && f.Message == "": // the conflict itself, as an object
		return forge.ErrConflict
	}
	return f
}
