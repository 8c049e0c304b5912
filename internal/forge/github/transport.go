package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"signalbox/internal/forge"
)

const (
	// maxAnswer is far above the largest page of 100 issues that GitHub answers.
	maxAnswer = 10 << 20
	// callTimeout ends a call that is not answered; errTimeout says how long it is. GitHub itself gives up after 10 seconds.
	callTimeout = time.Minute
	// maxRedirects allows a repository that was renamed and then moved.
	maxRedirects = 5
)

var (
	errNotAPI  = errors.New("the answer is not one of GitHub's API")
	errTimeout = errors.New("no answer within a minute")
)

// transport carries every call to the API. It alone adds the token, and only to requests for the API's own host. It reads the
// whole answer, so that what is too large, cut short or not JSON is an error here and not an empty value later.
type transport struct {
	base  http.RoundTripper
	at    address
	token func(context.Context) (string, error)
	// forget drops a token that the server refused, so that token returns a new one; nil if there is never a new one.
	forget  func(token string)
	now     func() time.Time
	meter   *meter
	flights flights
	cache   cache
	// last is the token of the last call: servers' messages are cleaned of it.
	last atomic.Pointer[string]
	// skew is the server's clock minus ours, in nanoseconds.
	skew atomic.Int64
}

// answer is a response that was read whole.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header.Clone(), Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}
}

// redirect refuses what follow didn't follow.
func (t *transport) redirect(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server redirects to %s", req.URL.Hostname())
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !t.at.holds(req.URL) {
		return nil, fmt.Errorf("%s is not the server of the API", req.URL.Hostname())
	}
	var a answer
	var err error
	if req.Method == http.MethodGet {
		a, err = t.read(req)
	} else {
		a, err = t.send(req)
		t.flights.written()
	}
	if err != nil {
		return nil, err
	}
	return a.response(req), nil
}

// read joins an equal call under way, or asks whether what was read before still holds.
func (t *transport) read(req *http.Request) (answer, error) {
	key := req.URL.String() + " " + req.Header.Get("Accept")
	return t.flights.do(req.Context(), key, t.meter.joined, func(ctx context.Context) (answer, error) {
		asked := req.Clone(ctx)
		known, ok := t.cache.get(key)
		if ok {
			asked.Header.Set("If-None-Match", known.header.Get("ETag"))
		}
		a, err := t.send(asked)
		if err == nil && ok && a.status == http.StatusNotModified {
			t.meter.unchanged()
			return known, nil
		}
		if err == nil && a.status == http.StatusOK {
			t.cache.put(key, a)
		}
		return a, err
	})
}

// send adds the token. If the server refuses an installation's token, it is sent once more with a new one: what was refused was not performed.
func (t *transport) send(req *http.Request) (answer, error) {
	for again := false; ; again = true {
		token, err := t.token(req.Context())
		if err != nil {
			return answer{}, err
		}
		if token == "" || strings.ContainsAny(token, "\r\n") {
			return answer{}, &forge.Failure{Kind: forge.Unauthorized, Err: errors.New("there is no token for GitHub")}
		}
		t.last.Store(&token)
		out := req.Clone(req.Context())
		out.Header.Set("Authorization", "Bearer "+token)
		a, err := t.follow(out)
		if again || t.forget == nil || err != nil || a.status != http.StatusUnauthorized {
			return a, err
		}
		t.forget(token)
	}
}

// follow goes to other places of the same API: GitHub redirects from a repository's old name to its present one. The same request
// is made there, unlike what Go's own client does with a POST.
func (t *transport) follow(req *http.Request) (answer, error) {
	for range maxRedirects {
		a, err := t.exchange(req)
		if err != nil || a.status < 300 || a.status >= 400 || a.status == http.StatusNotModified {
			return a, err
		}
		next, err := req.URL.Parse(a.header.Get("Location"))
		if err != nil || !t.at.holds(next) || !strings.HasPrefix(next.Path, t.at.api.Path) {
			return a, nil
		}
		req = req.Clone(req.Context())
		req.URL, req.Host = next, ""
	}
	return answer{}, errors.New("the server redirects in a circle")
}

// exchange is one request on the wire.
func (t *transport) exchange(req *http.Request) (a answer, err error) {
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return answer{}, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), callTimeout, errTimeout)
	defer cancel()
	t.meter.called(req)
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return answer{}, unanswered(ctx, err)
	}
	defer resp.Body.Close()
	t.meter.budget(resp.Header)
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		t.skew.Store(int64(date.Sub(t.now())))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, unanswered(ctx, err)
	}
	if len(body) > maxAnswer {
		return answer{}, &forge.Failure{Kind: forge.Unavailable, Status: resp.StatusCode, Err: fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)}
	}
	a = answer{status: resp.StatusCode, header: resp.Header, body: body}
	if !a.isAPI() {
		kind := forge.Unavailable
		if a.status == http.StatusTooManyRequests {
			kind = forge.Limited
		}
		return answer{}, &forge.Failure{Kind: kind, Status: a.status, RetryAfter: wait(a.header, t.now()), Err: errNotAPI}
	}
	return a, nil
}

// unanswered tells the driver's own time limit from the caller's.
func unanswered(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errTimeout) {
		return &forge.Failure{Kind: forge.Unavailable, Err: errTimeout}
	}
	return err
}

// isAPI tells GitHub's answers from those of a proxy, a load balancer or a sign-in page on the way. Whatever we call answers JSON that
// is not null, which decodes as if everything were empty; redirections and "not modified" may have anything.
func (a answer) isAPI() bool {
	switch {
	case a.status >= 300 && a.status < 400:
		return true
	case string(bytes.TrimSpace(a.body)) == "null":
		return false
	}
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) && json.Valid(a.body)
}
