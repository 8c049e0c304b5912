package rest

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

// Transport carries every call. It alone adds the token, and only to requests for the API's own host. It reads the whole answer, so that what is
// too large, cut short or not JSON is an error here and not an empty value later.
type Transport struct {
	Config
	// last is the token of the last call: servers' messages are cleaned of it.
	last atomic.Pointer[string]
	// skew is the server's clock minus ours, in nanoseconds.
	skew atomic.Int64
}

// New returns a transport that has called nothing.
func New(c Config) *Transport {
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	return &Transport{Config: c}
}

// As returns a transport for another token of the same server.
func (t *Transport) As(token func(context.Context) (string, error), forget func(string)) *Transport {
	other := &Transport{Config: t.Config}
	other.Token, other.Forget = token, forget
	return other
}

// Skew is the server's clock minus ours.
func (t *Transport) Skew() time.Duration { return time.Duration(t.skew.Load()) }

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

// Redirect refuses what follow didn't follow.
func (t *Transport) Redirect(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server redirects to %s", req.URL.Hostname())
}

func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !t.Holds(req.URL) {
		return nil, fmt.Errorf("%s is not the server of the API", req.URL.Hostname())
	}
	a, err := t.send(req)
	if err != nil {
		return nil, err
	}
	return a.response(req), nil
}

// signed returns a copy of the request that shows the token.
func (t *Transport) signed(req *http.Request) (out *http.Request, token string, err error) {
	if token, err = t.Token(req.Context()); err != nil {
		return nil, "", err
	}
	if token == "" || strings.ContainsAny(token, "\r\n") {
		return nil, "", &forge.Failure{Kind: forge.Unauthorized, Err: errors.New("there is no token for " + t.Vendor)}
	}
	t.last.Store(&token)
	out = req.Clone(req.Context())
	t.Sign(out, token)
	return out, token, nil
}

// Open sends a request whose answer may be large and no JSON. It follows no redirection. The caller closes the body and limits the time.
func (t *Transport) Open(req *http.Request) (*http.Response, error) {
	out, _, err := t.signed(req)
	if err != nil {
		return nil, err
	}
	return t.Base.RoundTrip(out)
}

// send adds the token. If the server refuses an installation's token, it is sent once more with a new one: what was refused was not performed.
func (t *Transport) send(req *http.Request) (answer, error) {
	for again := false; ; again = true {
		out, token, err := t.signed(req)
		if err != nil {
			return answer{}, err
		}
		a, err := t.follow(out)
		if again || t.Forget == nil || err != nil || a.status != http.StatusUnauthorized {
			return a, err
		}
		t.Forget(token)
	}
}

// follow goes to other places of the same API: a server redirects from a repository's old name to its present one. The same request
// is made there, unlike what Go's own client does with a POST.
func (t *Transport) follow(req *http.Request) (answer, error) {
	for range maxRedirects {
		a, err := t.exchange(req)
		if err != nil || a.status < 300 || a.status >= 400 || a.status == http.StatusNotModified {
			return a, err
		}
		next, err := req.URL.Parse(a.header.Get("Location"))
		if err != nil || !t.Holds(next) || !strings.HasPrefix(next.Path, t.API.Path) {
			return a, nil
		}
		req = req.Clone(req.Context())
		req.URL, req.Host = next, ""
	}
	return answer{}, errors.New("the server redirects in a circle")
}

// exchange is one request on the wire.
func (t *Transport) exchange(req *http.Request) (a answer, err error) {
	if req.GetBody != nil {
		if req.Body, err = req.GetBody(); err != nil {
			return answer{}, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(req.Context(), CallTimeout, ErrTimeout)
	defer cancel()
	resp, err := t.Base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return answer{}, t.Unanswered(ctx, err)
	}
	defer resp.Body.Close()
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		t.skew.Store(int64(date.Sub(t.Now())))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return answer{}, t.Unanswered(ctx, err)
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
		return answer{}, &forge.Failure{Kind: kind, Status: a.status, RetryAfter: t.Wait(a.header), Err: ErrNotAPI}
	}
	return a, nil
}

// Unanswered tells the driver's own time limit from the caller's.
func (t *Transport) Unanswered(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrTimeout) {
		return &forge.Failure{Kind: forge.Unavailable, Err: &TimeoutError{t.API.Host, CallTimeout}}
	}
	return err
}

// isAPI tells the API's answers from those of a proxy, a load balancer or a sign-in page on the way. Whatever we call answers JSON that
// is not null, which decodes as if everything were empty; redirections and "not modified" may have anything.
func (a answer) isAPI() bool {
	switch {
	case a.status >= 300 && a.status < 400:
		return true
	case string(bytes.TrimSpace(a.body)) == "null":
		return false
	}
	if a.status == http.StatusNoContent {
		return true
	}
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json")) && json.Valid(a.body)
}
