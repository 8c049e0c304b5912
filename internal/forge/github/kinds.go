package github

import (
	"net/http"
	"slices"
	"strings"
)

// ByApp reports whether a call is made by the App itself, and not by its installation: each has a budget of its own.
func ByApp(req *http.Request) bool {
	kind := Kind(req)
	return kind == "GET installation" || strings.HasPrefix(kind, "POST app/")
}

// Query reports whether a call is one of GraphQL.
func Query(req *http.Request) bool { return Kind(req) == "POST graphql" }

// Limit names GitHub's limit that a call counts against.
func Limit(req *http.Request) string {
	switch _, kind, _ := strings.Cut(Kind(req), " "); {
	case kind == "graphql":
		return "graphql"
	case strings.HasPrefix(kind, "search/"):
		return "search"
	}
	return "core"
}

// words are the parts of paths that are neither names nor numbers.
var words = []string{"access_tokens", "actions", "app", "branches", "check-runs", "collaborators", "comments", "commits", "events", "forks", "graphql",
	"installation", "installations", "issues", "jobs", "labels", "logs", "merge", "permission", "protection", "pulls", "reactions", "requested_reviewers",
	"reviews", "rules", "search", "status", "statuses"}

// Kind names the kind of a call: GET issues/*/comments.
func Kind(req *http.Request) string {
	parts := strings.Split(strings.Trim(req.URL.EscapedPath(), "/"), "/")
	if len(parts) > 2 && parts[0] == "api" && parts[1] == "v3" {
		parts = parts[2:]
	}
	if len(parts) > 1 && parts[0] == "api" {
		parts = parts[1:]
	}
	if parts[0] == "repos" && len(parts) >= 3 {
		parts = append([]string{"repository"}, parts[3:]...)
	}
	for i := 1; i < len(parts); i++ {
		if !slices.Contains(words, parts[i]) || parts[i-1] == "branches" || parts[i-1] == "labels" {
			parts[i] = "*"
		}
	}
	if len(parts) > 1 && parts[0] == "repository" {
		parts = parts[1:]
	}
	return req.Method + " " + strings.Join(parts, "/")
}
