package gateway

import (
	"net/http"
	"slices"
	"strings"
)

// hopByHop are headers that concern one connection only.
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// withoutHops returns a copy without the headers of one connection, those that Connection names included (RFC 9110, section 7.6.1).
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

// credentials are parts of header names that carry credentials, or that turn a request into another one. An agent has no credentials but ours:
// others could belong to an account to which it uploads data.
var credentials = []string{"auth", "cookie", "api-key", "apikey", "token", "secret", "override", "forwarded"}

// passedOn returns the headers that the vendor gets, with the key in its place.
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

// queryParameters are the query parameters that agents use. Google's API accepts credentials there too.
var queryParameters = []string{"alt", "beta", "limit", "after", "before", "after_id", "before_id", "order", "pageSize", "pageToken"}

// handBack copies the headers that the agent gets. None of them leads around the gateway.
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

// requestIDs are the headers by which vendors find a request again.
var requestIDs = []string{"Request-Id", "X-Request-Id", "X-Goog-Request-Id", "Cf-Ray"}
