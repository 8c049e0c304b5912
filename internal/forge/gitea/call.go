package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

// maxAnswer is how many bytes of an answer are read. 50 pull requests with their repositories are 1 MB.
const maxAnswer = 8 << 20

// request is one call. Its path is below the repository's; or root, below the API's.
type request struct {
	method     string
	root, path string
	// args fill the path's verbs, escaped. Slashes in them stay.
	args  []any
	query url.Values
	// in is sent as JSON, unless it is nil; the answer is read into out, unless that is nil.
	in, out any
}

// kind is the request without names and numbers.
func (r request) kind() string {
	return strings.TrimSpace(r.method + " " + r.root + strings.NewReplacer("%d", "*", "%s", "*").Replace(r.path))
}

// call makes one call and returns the answer's header. Every error is one of the port's, or the context's.
func (s *Server) call(ctx context.Context, r request) (http.Header, error) {
	resp, err := s.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode/100 != 2:
		return nil, s.refusal(resp, body)
	case err != nil:
		return nil, s.unreachable(ctx, err)
	case len(body) > maxAnswer:
		return nil, &forge.Failure{Kind: forge.Unavailable, Status: resp.StatusCode, Err: fmt.Errorf("the answer is larger than %d MB", maxAnswer>>20)}
	case r.out == nil:
		return resp.Header, nil
	}
	if err := json.Unmarshal(body, r.out); err != nil {
		return nil, &forge.Failure{Kind: forge.Unavailable, Status: resp.StatusCode, Err: fmt.Errorf("the answer is not Gitea's: %w", err)}
	}
	return resp.Header, nil
}

func (s *Server) send(ctx context.Context, r request) (*http.Response, error) {
	token, err := s.token(ctx)
	if err != nil {
		return nil, fmt.Errorf("get the token: %w", err)
	}
	var body io.Reader
	if r.in != nil {
		text, err := json.Marshal(r.in)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(rest.WithKind(ctx, r.kind()), r.method, s.address(r), body)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Authorization", "token "+token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "signalbox")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.unreachable(ctx, err)
	}
	return resp, nil
}

func (s *Server) address(r request) string {
	at := s.page + "/api/v1/"
	if r.root != "" {
		at += r.root
	} else {
		at += "repos/" + s.owner + "/" + s.name
	}
	if r.path != "" {
		args := make([]any, len(r.args))
		for i, arg := range r.args {
			if args[i] = arg; arg != nil {
				if text, ok := arg.(string); ok {
					args[i] = escaped(text)
				}
			}
		}
		at += "/" + fmt.Sprintf(r.path, args...)
	}
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	return at
}

// escaped escapes the segments of a path.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// pageSize is the most that Gitea returns at once, unless it is configured otherwise.
const pageSize = 50

// pages reads a list page by page until limit or its end, as the server says it.
func pages[T any](ctx context.Context, s *Server, r request, limit int) (all []T, err error) {
	query := maps.Clone(r.query)
	if query == nil {
		query = url.Values{}
	}
	for page := 1; len(all) < limit; page++ {
		var some []T
		query.Set("page", fmt.Sprint(page))
		query.Set("limit", fmt.Sprint(min(pageSize, limit)))
		r.query, r.out = query, &some
		header, err := s.call(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		if len(some) == 0 || !strings.Contains(header.Get("Link"), `rel="next"`) {
			break
		}
	}
	return all[:min(len(all), limit)], nil
}
