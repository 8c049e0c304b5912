package gateway

import (
	"net/http"
	"strings"
)

// route is a kind of request that is passed on.
type route struct {
	dialect dialect
	// model is the one that the path names, if it does.
	model string
	// answers: a model answers, which is paid for. The others list models or count tokens.
	answers bool
}

// routeOf knows the paths of the vendors' APIs that agents work with. All others are refused:
// files, batches and settings of the account that the key opens are none of an agent's business.
func routeOf(r *http.Request, path string) (route, bool) {
	if rest, ok := strings.CutPrefix(path, "/v1beta/models"); ok {
		return geminiRoute(r.Method, rest)
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

func geminiRoute(method, rest string) (route, bool) {
	if method == http.MethodGet {
		return route{dialect: gemini{}}, isList(rest)
	}
	model, verb, ok := strings.Cut(strings.TrimPrefix(rest, "/"), ":")
	found := route{dialect: gemini{}, model: model, answers: verb != "countTokens"}
	switch verb {
	case "generateContent", "streamGenerateContent", "countTokens":
		return found, ok && method == http.MethodPost && rest[0] == '/' && isName(model)
	}
	return route{}, false
}

// isList is the end of a path that lists models, or shows one.
func isList(rest string) bool {
	name, one := strings.CutPrefix(rest, "/")
	return rest == "" || one && isName(name)
}

// isName is what may be a model's name in a path: nothing that leads elsewhere.
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

// maxName bounds the name of a model.
const maxName = 128
