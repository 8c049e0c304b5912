package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// hopByHop are headers of one connection, not of what is sent through it.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func withoutHops(header http.Header) http.Header {
	kept := header.Clone()
	for _, names := range header.Values("Connection") {
		for name := range strings.SplitSeq(names, ",") {
			kept.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		kept.Del(name)
	}
	return kept
}

// credentials are parts of the names of headers that carry them, or that make another request of
// one. An agent has none but ours: others could be those of an account to which it takes things.
var credentials = []string{"auth", "cookie", "api-key", "apikey", "token", "secret", "override", "forwarded"}

// passedOn is the header that upstream gets, with the key in its place.
func passedOn(header http.Header, key string, at place, bearer bool) http.Header {
	kept := withoutHops(header)
	for name := range kept {
		isPart := func(part string) bool { return strings.Contains(strings.ToLower(name), part) }
		if slices.ContainsFunc(credentials, isPart) {
			kept.Del(name)
		}
	}
	for _, name := range []string{"Content-Length", "Expect", "X-Goog-User-Project"} {
		kept.Del(name)
	}
	if bearer {
		at = inBearer
	}
	if at == inBearer {
		key = "Bearer " + key
	}
	kept.Set(string(at), key)
	kept.Set("Accept-Encoding", "identity") // so that usage can be read
	if kept.Get("User-Agent") == "" {
		kept.Set("User-Agent", "signalbox")
	}
	return kept
}

// questions are what agents ask in the query. Google's API takes credentials there, too.
var questions = []string{"alt", "beta", "limit", "after", "before", "after_id", "before_id", "order", "pageSize", "pageToken"}

func query(asked url.Values) string {
	kept := url.Values{}
	for _, name := range questions {
		if values, ok := asked[name]; ok {
			kept[name] = values
		}
	}
	return kept.Encode()
}

// handBack is the header that the agent gets. Nothing in it leads past the gateway.
func (s *Session) handBack(to, from http.Header) {
	for name, values := range withoutHops(from) {
		switch name {
		case "Set-Cookie", "Alt-Svc", "Location", "Content-Length", "Content-Encoding":
			continue
		}
		for _, value := range values {
			if s.config.Key != "" {
				value = strings.ReplaceAll(value, s.config.Key, string(masked))
			}
			to.Add(name, value)
		}
	}
}

// requestIDs are the names under which vendors find a request again.
var requestIDs = []string{"Request-Id", "X-Request-Id", "X-Goog-Request-Id", "Cf-Ray"}
