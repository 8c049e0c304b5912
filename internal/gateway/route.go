package gateway

import (
	"net/http"
	"strings"
)

// route is a kind of request that is passed on.
type route struct {
	dialect dialect
	// model is the model named in the path, if there is one.
	model string
	// answers: a model answers, which costs money. Other routes list models or count tokens.
	answers bool
}

// routeOf recognizes the vendors' paths that agents need. All others are refused: an agent has no business with the files, batches and settings of
// the account.
func routeOf(r *http.Request, path string) (route, bool) {
	if rest, ok := strings.CutPrefix(path, "/v1beta/models"); ok {
		if r.Method == http.MethodGet {
			return route{dialect: gemini{}}, isList(rest)
		}
		model, verb, ok := strings.Cut(strings.TrimPrefix(rest, "/"), ":")
		found := route{dialect: gemini{}, model: model, answers: verb != "countTokens"}
		switch verb {
		case "generateContent", "streamGenerateContent", "countTokens":
			return found, ok && r.Method == http.MethodPost && rest[0] == '/' && isName(model)
		}
		return route{}, false
	}
	switch r.Method + " " + path {
	case "POST /v1/messages":
		return route{dialect: anthropic{}, answers: true}, true
	case "POST /v1/messages/count_tokens":
		return route{dialect: anthropic{}}, true
	case "POST /v1/responses":
		return route{dialect: responses{}, answers: true}, true
	case "POST /v1/chat/completions":
		return route{dialect: chat{}, answers: true}, true
	}
	rest, ok := strings.CutPrefix(path, "/v1/models")
	if !ok || r.Method != http.MethodGet || !isList(rest) {
		return route{}, false
	}
	if r.Header.Get("Anthropic-Version") != "" {
		return route{dialect: anthropic{}}, true
	}
	return route{dialect: chat{}}, true
}

// isList reports whether rest ends a path that lists models or shows one.
func isList(rest string) bool {
	name, one := strings.CutPrefix(rest, "/")
	return rest == "" || one && isName(name)
}

// isName reports whether s may be a model's name in a path; it can't lead elsewhere.
func isName(s string) bool {
	if s == "" || len(s) > maxName || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("-._", rune(c)) {
			return false
		}
	}
	return true
}

// maxName is the longest name of a model.
const maxName = 128
