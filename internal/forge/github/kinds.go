package github

import (
	"net/http"
	"strings"

	"signalbox/internal/forge/rest"
)

// ByApp reports whether a call is made by the App itself, and not by its installation: each has a budget of its own.
func ByApp(req *http.Request) bool {
	kind := rest.Kind(req)
	return kind == "GET installation" || strings.HasPrefix(kind, "POST app/")
}

// Query reports whether a call is one of GraphQL.
func Query(req *http.Request) bool { return rest.Kind(req) == "POST graphql" }

// Limit names GitHub's limit that a call counts against.
func Limit(req *http.Request) string {
	switch _, kind, _ := strings.Cut(rest.Kind(req), " "); {
	case kind == "graphql":
		return "graphql"
	case strings.HasPrefix(kind, "search/"):
		return "search"
	}
	return "core"
}
