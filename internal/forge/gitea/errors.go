package gitea

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// limitedWait is how long to wait after a limit that names no time.
const limitedWait = time.Minute

// refusal judges an answer that is no success.
func (s *Server) refusal(resp *http.Response, body []byte) error {
	var said struct{ Message string }
	_ = json.Unmarshal(body, &said) // what is not understood is judged by its status
	f := &forge.Failure{Kind: rest.KindOf(resp.StatusCode), Status: resp.StatusCode, Message: rest.Line(said.Message), RetryAfter: rest.RetryAfter(resp.Header, s.now())}
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return fmt.Errorf("%w (the server says %q)", forge.ErrNotFound, f.Message)
	case resp.StatusCode == http.StatusForbidden && f.RetryAfter > 0: // a proxy before Gitea, which has no limits itself
		f.Kind = forge.Limited
	case f.Kind == forge.Limited && f.RetryAfter == 0:
		f.RetryAfter = limitedWait
	}
	if resp.StatusCode/100 == 3 {
		f.Kind = forge.Refused
		f.Message = "the repository has another address: " + rest.Line(withoutQuery(resp.Header.Get("Location")))
		f.Moved = s.moved(resp)
	}
	return f
}

// unreachable is the failure of a call without a whole answer; the context's error if that ended it.
func (s *Server) unreachable(ctx context.Context, err error) error {
	if ended := context.Cause(ctx); ended != nil {
		return ended
	}
	if held := (*forge.Failure)(nil); errors.As(err, &held) { // it was not sent
		return held
	}
	var inURL *url.Error // its text repeats the address
	var dial *net.OpError
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() && !(errors.As(err, &dial) && dial.Op == "dial") {
		host, _ := url.Parse(s.page)
		err = &rest.TimeoutError{Host: host.Host, After: s.client.Timeout}
	}
	return &forge.Failure{Kind: forge.Unavailable, Err: err}
}

// moved is the page to which a redirection of the API leads; empty if it's none of another repository on this server.
func (s *Server) moved(resp *http.Response) string {
	to, err := resp.Location()
	if err != nil {
		return ""
	}
	api := s.page + "/api/v1/repos/"
	to.User, to.RawQuery, to.Fragment = nil, "", ""
	path, ok := strings.CutPrefix(to.String(), api)
	parts := strings.SplitN(path, "/", 3)
	if !ok || len(parts) < 2 || !accountName().MatchString(parts[0]) || !accountName().MatchString(parts[1]) || parts[0] == s.owner && parts[1] == s.name {
		return ""
	}
	return s.page + "/" + parts[0] + "/" + parts[1]
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
