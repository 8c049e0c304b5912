// Package budget is what all processes of a user share of one server and one credential: the calls that the server still accepts, the time before
// which no one may call again, the answers that are known, and the count of what was asked. It is a transport below a driver. It knows the headers
// of HTTP and of limits, and no vendor; it waits for nothing and repeats nothing. A call that the server would refuse now is not sent, and fails as
// one that it refused.
package budget

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/forge"
)

// Config says how calls are counted. Kind and Now are required.
type Config struct {
	// Base sends what is not answered here; nil means Go's default.
	Base http.RoundTripper
	// Folder is where processes share what they know; empty shares nothing. The last part of it is made.
	Folder string
	// Credential names what a call is made with, if its token is one of many that the same one gets. nil tells credentials apart by their tokens, of
	// which only a digest is kept.
	Credential func(*http.Request) string
	// Kind names the kind of a call, without names and numbers.
	Kind func(*http.Request) string
	// Limit names the server's limit that a call counts against, if the server has several; nil means that it has one.
	Limit func(*http.Request) string
	// Query reports whether a POST may be a query that only reads; nil means that none is. It is one if its caller would take a recent answer.
	Query func(*http.Request) bool
	// FreeUnchanged: the server does not count calls that it answers with "not modified".
	FreeUnchanged bool
	Now           func() time.Time
	Logger        *slog.Logger
}

const (
	// maxAnswer is how much of an answer is read: a little more than the drivers accept, so that they say that it is too large.
	maxAnswer = 10<<20 + 1
	// maxRefusal is how much of a refusal is looked at.
	maxRefusal = 64 << 10
	// maxHold bounds what a server, a broken clock or a damaged file can make us wait. Limits are reset hourly at most.
	maxHold = 24 * time.Hour
	// maxSpread is how far apart processes begin to call again.
	maxSpread = 30 * time.Second
)

// Transport counts, shares and holds back the calls of a driver.
type Transport struct {
	Config
	folder *folder
	// spread keeps processes from calling all at once when a pause ends: each adds its own part of maxSpread.
	spread float64
	mu     sync.Mutex
	known  map[string]*account
}

// New returns a transport that has called nothing. A folder that can't be used, or that others may write to, is not used: a call never fails for it.
func New(c Config) *Transport {
	if c.Base == nil {
		c.Base = http.DefaultTransport
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Transport{Config: c, spread: rand.Float64(), known: map[string]*account{}} //nolint:gosec // no secret
	if c.Folder != "" {
		var err error
		if t.folder, err = openFolder(c.Folder, c.Now); err != nil {
			c.Logger.Warn("the forge's limits are not shared with other processes", "err", err)
		}
	}
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	a := t.account(req)
	if a == nil {
		return t.Base.RoundTrip(req)
	}
	key, reads, err := t.keyOf(req)
	if err != nil {
		return nil, err
	}
	if !reads {
		if req.Method != http.MethodGet {
			defer a.flights.written()
		}
		return t.send(a, req)
	}
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
	}
	found, err := t.read(a, key, req)
	if err != nil {
		return nil, err
	}
	return found.response(req), nil
}

// keyOf names what a call reads, and reports whether it only reads.
func (t *Transport) keyOf(req *http.Request) (key string, reads bool, err error) {
	key = req.URL.RequestURI() + " " + req.Header.Get("Accept")
	switch {
	case !strings.Contains(req.Header.Get("Accept"), "json"):
		return "", false, nil
	case req.Method == http.MethodGet:
		return key, true, nil
	case req.Method != http.MethodPost || t.Query == nil || !t.Query(req) || forge.RecentEnough(req.Context()) == 0 || req.GetBody == nil:
		return "", false, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return "", false, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, body)
	return key + " " + hex.EncodeToString(sum.Sum(nil)), true, errors.Join(err, body.Close())
}

// account is what is known of a call's credential; nil if it shows none, as to a place that a server redirects to.
func (t *Transport) account(req *http.Request) *account {
	credential, name := "", ""
	for _, header := range []string{"Authorization", "Private-Token", "Job-Token"} {
		credential += req.Header.Get(header)
	}
	if credential == "" {
		return nil
	}
	if t.Credential != nil {
		name = t.Credential(req)
		credential = ""
	}
	host := strings.ToLower(req.URL.Host)
	sum := sha256.Sum256([]byte("signalbox\n" + host + "\n" + name + "\n" + credential))
	id := hex.EncodeToString(sum[:16])
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[id] == nil {
		t.known[id] = newAccount(t.folder, id, state{Host: host, Name: name}, t.Now)
	}
	return t.known[id]
}

// read joins an equal call under way, takes an answer that the caller finds recent enough, or asks whether what was read before still holds.
func (t *Transport) read(a *account, key string, req *http.Request) (answer, error) {
	if age := forge.RecentEnough(req.Context()); age > 0 {
		if known, ok := a.answers.get(key); ok && !known.at.After(t.Now()) && t.Now().Sub(known.at) <= age {
			a.count(func(c *Count) { c.Recent++ })
			return known, nil
		}
	}
	return a.flights.do(req.Context(), key, func() { a.count(func(c *Count) { c.Joined++ }) }, func(ctx context.Context) (answer, error) {
		asked := req.Clone(ctx)
		if req.GetBody != nil {
			var err error
			if asked.Body, err = req.GetBody(); err != nil {
				return answer{}, err
			}
		}
		known, ok := a.answers.get(key)
		if ok {
			ok = known.condition(asked.Header)
		}
		resp, err := t.send(a, asked)
		if err != nil {
			return answer{}, err
		}
		defer func() { _ = resp.Body.Close() }()
		if ok && resp.StatusCode == http.StatusNotModified {
			return a.answers.confirm(key, known, resp.Header, t.Now()), nil
		}
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return answer{}, err
		}
		fresh := answer{status: resp.StatusCode, header: resp.Header, body: body, at: t.Now()}
		soon := forge.RecentEnough(ctx) > 0
		if fresh.worthKeeping(soon) && (fresh.status == http.StatusOK || a.heldUntil(t.limitOf(req)).IsZero()) {
			a.answers.put(key, fresh)
		}
		return fresh, nil
	})
}

// send sends a call, unless the server would refuse it now, and learns from the answer.
func (t *Transport) send(a *account, req *http.Request) (*http.Response, error) {
	limit := t.limitOf(req)
	if until := a.heldUntil(limit); !until.IsZero() {
		a.count(func(c *Count) { c.Held++ })
		return nil, t.held(req, until)
	}
	resp, err := t.Base.RoundTrip(req)
	seen := sighting{kind: t.Kind(req), limit: limit, paid: true}
	if err != nil { // it may have arrived
		a.learn(req.Context(), seen)
		return nil, err
	}
	seen.status, seen.header = resp.StatusCode, resp.Header
	seen.paid = !t.FreeUnchanged || resp.StatusCode != http.StatusNotModified
	if resp.StatusCode == http.StatusForbidden { // only its text may tell a limit from a missing right
		resp.Body, seen.text = peeked(resp.Body)
	}
	a.learn(req.Context(), seen)
	return resp, nil
}

func (t *Transport) limitOf(req *http.Request) string {
	if t.Limit == nil {
		return ""
	}
	return t.Limit(req)
}

// peeked returns the beginning of a body, and the body with it.
func peeked(body io.ReadCloser) (io.ReadCloser, string) {
	begun, err := io.ReadAll(io.LimitReader(body, maxRefusal))
	rest := io.Reader(body)
	if err != nil {
		rest = failing{err}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begun), rest), body}, string(begun)
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// held is the error of a call that is not sent.
func (t *Transport) held(req *http.Request, until time.Time) error {
	if req.Body != nil {
		_ = req.Body.Close()
	}
	wait := until.Sub(t.Now())
	wait += time.Duration(t.spread * float64(min(wait/8, maxSpread)))
	return &forge.Failure{Kind: forge.Limited, RetryAfter: max(wait, time.Second).Round(time.Second), Err: fmt.Errorf("no call is sent now: %s asked for a pause", req.URL.Host)}
}

// Use returns what is known of each credential that this process called with, by name.
func (t *Transport) Use() (all []Use) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range t.known {
		all = append(all, a.use())
	}
	slices.SortFunc(all, compare)
	return all
}
