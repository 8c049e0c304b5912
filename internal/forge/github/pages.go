package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/go-github/v89/github"

	"signalbox/internal/forge"
)

const (
	pageSize = 100
	// maxPages bounds what a hostile issue with endless comments can make us read: 10,000 of them.
	maxPages = 100
)

// pages reads page by page until there is no next one, or each returns false.
func pages[T any](list func(github.ListOptions) ([]T, *github.Response, error), each func(T) bool) error {
	options := github.ListOptions{PerPage: pageSize}
	for range maxPages {
		page, resp, err := list(options)
		if err != nil {
			return err
		}
		for _, one := range page {
			if !each(one) {
				return nil
			}
		}
		if resp.NextPage == 0 {
			return nil
		}
		options.Page = resp.NextPage
	}
	return &forge.Failure{Kind: forge.Refused, Err: fmt.Errorf("there are more than %d", maxPages*pageSize)}
}

// get reads what the library has no fitting type for. The path is below the repository's.
func get[T any](ctx context.Context, s *Server, path string) (found T, resp *github.Response, err error) {
	req, err := s.rest.NewRequest(ctx, http.MethodGet, fmt.Sprintf("repos/%s/%s/%s", s.owner, s.name, path), nil)
	if err != nil {
		return found, nil, err
	}
	resp, err = s.rest.Do(req, &found)
	return found, resp, err
}

func query(page github.ListOptions) string {
	values := url.Values{"per_page": {strconv.Itoa(page.PerPage)}}
	if page.Page > 0 {
		values.Set("page", strconv.Itoa(page.Page))
	}
	return values.Encode()
}
