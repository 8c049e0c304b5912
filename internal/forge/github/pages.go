package github

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"signalbox/internal/forge"
	"signalbox/internal/forge/rest"
)

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
		next := rest.NextPage(resp.Header)
		if next == 0 {
			return nil
		}
		query = url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(next)}}
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
