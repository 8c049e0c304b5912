package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
)

// Call is one call. Its path is below the repository's; or, with Root, below that, below the API's.
type Call struct {
	Method     string
	Root, Path string
	// Args fill the path's verbs. Strings are escaped, slashes too: each is one part of the path.
	Args  []any
	Query url.Values
	// In is sent as JSON, unless it is nil; the answer is read into Out, unless that is nil.
	In, Out any
}

// ErrNotComputed: the server took the call, and has no answer yet.
var ErrNotComputed = errors.New("the server has not computed the answer yet")

// kindKey is where a request's context has its kind.
type kindKey struct{}

// Kind names the kind of a call, without names and numbers: GET issues/*/comments.
func Kind(r *http.Request) string {
	kind, _ := r.Context().Value(kindKey{}).(string)
	return kind
}

// WithKind returns the context of a request of this kind.
func WithKind(ctx context.Context, kind string) context.Context {
	return context.WithValue(ctx, kindKey{}, kind)
}

func (c Call) kind() string {
	path := strings.Trim(c.Root+"/"+strings.NewReplacer("%d", "*", "%s", "*").Replace(c.Path), "/")
	if path == "" {
		path = "repository"
	}
	return c.Method + " " + path
}

// Do makes one call. The answer's body is read and closed.
func (t *Transport) Do(ctx context.Context, c Call) (*http.Response, error) {
	req, err := t.Request(ctx, c)
	if err != nil {
		return nil, err
	}
	return t.Answered(req, c.Out)
}

// Answered sends a request and reads its answer into out.
func (t *Transport) Answered(req *http.Request, out any) (*http.Response, error) {
	resp, err := (&http.Client{Transport: t, CheckRedirect: t.Redirect}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body) // the transport has bounded it
	switch {
	case resp.StatusCode == http.StatusAccepted:
		return nil, &forge.Failure{Kind: forge.Unavailable, Err: ErrNotComputed}
	case resp.StatusCode/100 != 2:
		return nil, t.Refusal(resp, body)
	case err != nil || out == nil:
		return resp, err
	}
	return resp, json.Unmarshal(body, out)
}

// Request makes the request of a call.
func (t *Transport) Request(ctx context.Context, c Call) (*http.Request, error) {
	address, err := t.address(c)
	if err != nil {
		return nil, err
	}
	return t.RequestTo(ctx, c.kind(), address, c.In)
}

// RequestTo makes a request that sends in as JSON, unless it is nil. Its kind begins with the method.
func (t *Transport) RequestTo(ctx context.Context, kind, address string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	method, _, _ := strings.Cut(kind, " ")
	req, err := http.NewRequestWithContext(WithKind(ctx, kind), method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "signalbox")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range t.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// address refuses names that would lead to another path: no escape keeps dots from being resolved on the way.
func (t *Transport) address(c Call) (string, error) {
	at := t.Repository
	if c.Root != "" {
		at = c.Root
	}
	args := make([]any, len(c.Args))
	for i, arg := range c.Args {
		args[i] = arg
		if text, ok := arg.(string); ok {
			if text == "." || text == ".." {
				return "", &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no name on %s", text, t.Vendor)}
			}
			args[i] = url.PathEscape(text)
		}
	}
	if c.Path != "" {
		at += "/" + fmt.Sprintf(c.Path, args...)
	}
	if len(c.Query) > 0 {
		at += "?" + c.Query.Encode()
	}
	return t.API.String() + at, nil
}

// Get reads what is below the repository's path.
func Get[T any](ctx context.Context, t *Transport, query url.Values, path string, args ...any) (found T, resp *http.Response, err error) {
	resp, err = t.Do(ctx, Call{Method: http.MethodGet, Path: path, Args: args, Query: query, Out: &found})
	return found, resp, err
}

const (
	// PageSize is the most that servers return at once.
	PageSize = 100
	// MaxPages bounds what a hostile issue with endless comments can make us read: 10,000 of them.
	MaxPages = 100
)

// Pages reads page by page until there is no next one, or each returns false. list is given the page's part of the query.
func Pages[T any](list func(url.Values) ([]T, *http.Response, error), each func(T) bool) error {
	query := url.Values{"per_page": {strconv.Itoa(PageSize)}}
	for range MaxPages {
		page, resp, err := list(query)
		if err != nil {
			return err
		}
		for _, one := range page {
			if !each(one) {
				return nil
			}
		}
		if query = Next(resp.Header); query == nil { // by number, or by a key where lists are long
			return nil
		}
	}
	return &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("there are more than %d", MaxPages*PageSize)}
}

// Filtered adds to a page's query what has a value.
func Filtered(page url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			page.Set(pairs[i], pairs[i+1])
		}
	}
	return page
}
