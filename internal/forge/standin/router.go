package standin

import (
	"net/http"
	"net/url"
	"strings"
)

// Route finds the operation of a request among method and path, as "GET /repos/{owner}", and sets the values of its path. below is what the
// API's paths have in front. Descriptions have paths of which Go's own router can't say which is meant: issues/comments/{comment_id} and
// issues/{issue_number}/comments.
func Route[T any](operations map[string]T, below string, r *http.Request) (path string, found T, ok bool) {
	given := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), below), "/")
	literals := -1
	for pattern, handle := range operations {
		method, template, _ := strings.Cut(pattern, " ")
		if n, fits := fit(strings.Split(template, "/"), given); fits && method == r.Method && n > literals {
			path, found, literals = template, handle, n
		}
	}
	for i, part := range strings.Split(path, "/") {
		if strings.HasPrefix(part, "{") {
			value, err := url.PathUnescape(given[i])
			if err != nil {
				return path, found, false
			}
			r.SetPathValue(strings.Trim(part, "{}"), value)
		}
	}
	return path, found, literals >= 0
}

// fit counts the parts that are equal, if all others are names.
func fit(template, given []string) (literals int, fits bool) {
	if len(template) != len(given) {
		return 0, false
	}
	for i, part := range template {
		switch {
		case part == given[i]:
			literals++
		case !strings.HasPrefix(part, "{") || given[i] == "":
			return 0, false
		}
	}
	return literals, true
}
