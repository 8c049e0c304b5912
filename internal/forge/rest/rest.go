// Package rest carries a driver's calls to the REST API of a server: signed, bounded, redirected. It owns what HTTP says, and no vendor's words: whom
// a call is of, how a token is shown and what the headers of limits are called comes from the driver.
package rest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/forge"
)

// Config says how a vendor's API is called. Base, Token and Forget may be left out.
type Config struct {
	// Base is what is below; nil means Go's default.
	Base http.RoundTripper
	// API is the address that all calls are below, with a slash at the end. Vendor is its name in messages.
	API    *url.URL
	Vendor string
	// Repository is what the paths of the repository's calls begin with, below API. Header is sent with every call.
	Repository string
	Header     map[string]string
	// Refusal judges an answer that is no success.
	Refusal func(resp *http.Response, body []byte) error
	// Token returns the token for the next call, and Sign shows it.
	Token func(context.Context) (string, error)
	Sign  func(r *http.Request, token string)
	// Forget drops a token that the server refused, so that Token returns a new one; nil if there is never a new one.
	Forget func(token string)
	Now    func() time.Time
	// Limits is what the names of headers about limits begin with, such as Ratelimit-.
	Limits string
}

const (
	// maxAnswer is far above the largest page of 100 issues.
	maxAnswer = 10 << 20
	// CallTimeout ends a call that is not answered. The servers themselves give up before.
	CallTimeout = time.Minute
	// maxRedirects allows a repository that was renamed and then moved.
	maxRedirects = 5
	// maxWait bounds what a server can make us wait. Limits are reset hourly at most.
	maxWait = 24 * time.Hour
	// maxMessage bounds a server's text in an error.
	maxMessage = 500
)

// ErrTimeout: a call took longer than CallTimeout.
var ErrTimeout = errors.New("no answer in time")

// TimeoutError is ErrTimeout with the server's name and the time that it had.
type TimeoutError struct {
	Host  string
	After time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the server at %s did not answer within %.0f s", e.Host, e.After.Seconds())
}

func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// ErrNotAPI: the answer is not JSON, or null. A proxy, a load balancer or a sign-in page on the way gave it.
var ErrNotAPI = errors.New("the answer is not one of the server's API")

// Holds reports whether a URL is on the server of the API.
func (t *Transport) Holds(u *url.URL) bool {
	return u.Scheme == t.API.Scheme && strings.EqualFold(u.Host, t.API.Host)
}

// Secure refuses an address on which a token would travel unencrypted to another machine.
func Secure(u *url.URL) error {
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()) {
		return nil
	}
	return fmt.Errorf("%s is not reached by https: the token could be read on the way", u.Host)
}

// Wait is how long the server asks to wait, by its own clock where it matters; 0 if it doesn't say.
func (t *Transport) Wait(h http.Header) time.Duration {
	if asked := RetryAfter(h, t.Now()); asked > 0 {
		return asked
	}
	if reset, err := strconv.ParseInt(h.Get(t.Limits+"Reset"), 10, 64); err == nil && h.Get(t.Limits+"Remaining") == "0" {
		return bounded(time.Unix(reset, 0).Sub(Clock(h, t.Now())))
	}
	return 0
}

// RetryAfter reads the header of this name, by the server's own clock if it is told; 0 if it doesn't say.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	asked := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(asked, 10, 64); err == nil {
		return bounded(time.Duration(min(max(seconds, 0), int64(maxWait/time.Second))) * time.Second)
	}
	if at, err := http.ParseTime(asked); err == nil {
		return bounded(at.Sub(Clock(h, now)))
	}
	return 0
}

// Clock is the server's, or ours.
func Clock(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// bounded is at least a second: 0 would mean that the server didn't say.
func bounded(d time.Duration) time.Duration { return min(max(d, time.Second), maxWait) }

// Clean makes one bounded line of a server's text, without the token if the server repeats it.
func (t *Transport) Clean(text string) string {
	if token := t.last.Load(); token != nil {
		text = strings.ReplaceAll(text, *token, "[token]")
	}
	return Line(text)
}

// Line makes one bounded line of a server's text.
func Line(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// KindOf is what a status alone says of a failure.
func KindOf(status int) forge.FailureKind {
	switch {
	case status == http.StatusUnauthorized:
		return forge.Unauthorized
	case status == http.StatusForbidden, status == http.StatusUnavailableForLegalReasons:
		return forge.Forbidden
	case status == http.StatusTooManyRequests:
		return forge.Limited
	case status >= 500, status < 400, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return forge.Unavailable
	}
	return forge.Refused
}

// Next is the query of the next page's address in the Link header; nil if there is none.
func Next(h http.Header) url.Values {
	for link := range strings.SplitSeq(h.Get("Link"), "<") {
		address, relation, _ := strings.Cut(link, ">")
		if to, err := url.Parse(address); err == nil && strings.Contains(relation, `rel="next"`) {
			return to.Query()
		}
	}
	return nil
}
