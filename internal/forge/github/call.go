package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"signalbox/internal/forge"
)

// request is one call. Its path is below the repository's; or root, below the API's.
type request struct {
	method     string
	root, path string
	// args fill the path's verbs. Strings are escaped, slashes too: each is one part of the path.
	args  []any
	query url.Values
	// in is sent as JSON, unless it is nil; the answer is read into out, unless that is nil.
	in, out any
}

// call makes one call of the repository's token. The answer's body is read and closed.
func (s *Server) call(ctx context.Context, r request) (*http.Response, error) {
	return s.callBy(ctx, s.rest, r)
}

func (s *Server) callBy(ctx context.Context, client *http.Client, r request) (*http.Response, error) {
	req, err := s.prepared(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.answered(client, req, r.out)
}

var errNotComputed = errors.New("GitHub has not computed the answer yet")

// answered sends a request and reads its answer into out.
func (s *Server) answered(client *http.Client, req *http.Request, out any) (*http.Response, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusAccepted:
		return nil, &forge.Failure{Kind: forge.Unavailable, Err: errNotComputed}
	case resp.StatusCode/100 != 2:
		return nil, s.refusal(resp)
	case out == nil:
		return resp, nil
	}
	body, err := io.ReadAll(resp.Body) // the transport has bounded it
	if err == nil {
		err = json.Unmarshal(body, out)
	}
	return resp, err
}

func (s *Server) prepared(ctx context.Context, r request) (*http.Request, error) {
	address, err := s.address(r)
	if err != nil {
		return nil, err
	}
	return encodedRequest(ctx, r.method, address, r.in)
}

func encodedRequest(ctx context.Context, method, address string, in any) (*http.Request, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("X-Github-Api-Version", "2022-11-28")
	req.Header.Set("User-Agent", "signalbox")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// address refuses names that would lead to another path: no escape keeps dots from being resolved on the way.
func (s *Server) address(r request) (string, error) {
	at := s.at.api.String()
	if r.root != "" {
		at += r.root
	} else {
		at += "repos/" + s.owner + "/" + s.name
	}
	args := make([]any, len(r.args))
	for i, arg := range r.args {
		args[i] = arg
		if text, ok := arg.(string); ok {
			if text == "." || text == ".." {
				return "", &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("%q is no name on GitHub", text)}
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

// get reads what is below the repository's path.
func get[T any](ctx context.Context, s *Server, query url.Values, path string, args ...any) (found T, resp *http.Response, err error) {
	resp, err = s.call(ctx, request{method: http.MethodGet, path: path, args: args, query: query, out: &found})
	return found, resp, err
}
