package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// request is one call. Its path is below the project's; or root, below the API's.
type request struct {
	method     string
	root, path string
	// args fill the path's verbs. Strings are escaped, slashes too: each is one part of the path.
	args  []any
	query url.Values
	// in is sent as JSON, unless it is nil; the answer is read into out, unless that is nil.
	in, out any
}

// kindKey is where a call's context has its kind.
type kindKey struct{}

// kind is the request without names and numbers.
func (r request) kind() string {
	path := r.root
	if path == "" {
		path = strings.NewReplacer("%d", "*", "%s", "*").Replace(r.path)
	}
	if path == "" {
		path = "project"
	}
	return r.method + " " + path
}

// Kind names the kind of a call.
func Kind(r *http.Request) string {
	kind, _ := r.Context().Value(kindKey{}).(string)
	return kind
}

// call makes one call. The answer's body is read and closed.
func (s *Server) call(ctx context.Context, r request) (*http.Response, error) {
	req, err := s.prepared(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := s.rest.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body) // the transport has bounded it
	switch {
	case resp.StatusCode/100 != 2:
		return nil, s.refusal(resp, body)
	case err != nil || r.out == nil:
		return resp, err
	}
	return resp, json.Unmarshal(body, r.out)
}

func (s *Server) prepared(ctx context.Context, r request) (*http.Request, error) {
	address, err := s.address(r)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if r.in != nil {
		text, err := json.Marshal(r.in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(context.WithValue(ctx, kindKey{}, r.kind()), r.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "signalbox")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// address refuses names that would lead to another path: no escape keeps dots from being resolved on the way.
func (s *Server) address(r request) (string, error) {
	at := s.page + "/api/v4/"
	if r.root != "" {
		at += r.root
	} else {
		at += "projects/" + url.PathEscape(s.path)
	}
	args := make([]any, len(r.args))
	for i, arg := range r.args {
		args[i] = arg
		if text, ok := arg.(string); ok {
			if text == "." || text == ".." {
				return "", &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no name on GitLab", text)}
			}
			args[i] = url.PathEscape(text)
		}
	}
	if r.path != "" {
		at += "/" + fmt.Sprintf(r.path, args...)
	}
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	return at, nil
}

// get reads what is below the project's path.
func get[T any](ctx context.Context, s *Server, query url.Values, path string, args ...any) (found T, resp *http.Response, err error) {
	resp, err = s.call(ctx, request{method: http.MethodGet, path: path, args: args, query: query, out: &found})
	return found, resp, err
}

const (
	pageSize = 100
	// maxPages bounds what a hostile issue with endless comments can make us read: 10,000 of them.
	maxPages = 100
)

// pages reads page by page until there is no next one, or each returns false. list is given the page's part of the query.
func pages[T any](list func(url.Values) ([]T, *http.Response, error), each func(T) bool) error {
	query := url.Values{"per_page": {strconv.Itoa(pageSize)}}
	for range maxPages {
		page, resp, err := list(query)
		if err != nil {
			return err
		}
		for _, one := range page {
			if !each(one) {
				return nil
			}
		}
		if query = rest.Next(resp.Header); query == nil { // by number, or by a key where lists are long
			return nil
		}
	}
	return &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("there are more than %d", maxPages*pageSize)}
}

// filtered adds to a page's query what has a value.
func filtered(page url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			page.Set(pairs[i], pairs[i+1])
		}
	}
	return page
}
