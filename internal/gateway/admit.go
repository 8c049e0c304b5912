package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// serve answers one request, from any process that can reach the port.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if status := g.stray(r); status != 0 {
		turnAway(w, status)
		return
	}
	s, path, status := g.find(r)
	if status != 0 {
		turnAway(w, status)
		return
	}
	route, known := routeOf(r, path)
	place, right := s.credential(r)
	switch {
	case !right:
		refuse(w, route.dialect, http.StatusUnauthorized, "This is not the key of this session.")
	case !known:
		turnAway(w, http.StatusNotFound)
	default:
		s.serve(w, r, route, path, place)
	}
}

// turnAway refuses a request without revealing anything about the gateway.
func turnAway(w http.ResponseWriter, status int) {
	w.Header().Set("Connection", "close")
	http.Error(w, http.StatusText(status), status)
}

// stray returns the status for a request that no agent sends to its endpoint: one for a proxy, one from a web page in a browser (another host name,
// or an Origin), one that asks for another protocol, or one whose path isn't in its plain form.
func (g *Gateway) stray(r *http.Request) int {
	switch {
	case r.Method == http.MethodConnect, r.URL.IsAbs(), r.URL.Host != "":
		return http.StatusBadRequest
	case r.Host != g.address:
		return http.StatusMisdirectedRequest
	case len(r.Header.Values("Origin")) > 0:
		return http.StatusForbidden
	case r.Header.Get("Upgrade") != "":
		return http.StatusBadRequest
	case r.URL.RawPath != "":
		return http.StatusNotFound
	}
	return 0
}

// find returns the session whose token begins the path, and the rest of the path.
func (g *Gateway) find(r *http.Request) (s *Session, path string, status int) {
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if len(token) != secretLength {
		return nil, "", http.StatusNotFound
	}
	g.mu.Lock()
	s, there := g.sessions[sha256.Sum256([]byte(token))]
	g.mu.Unlock()
	switch {
	case !there:
		return nil, "", http.StatusNotFound
	case s == nil:
		return nil, "", http.StatusGone
	}
	return s, "/" + path, 0
}

// place is where a client puts its key.
type place string

const (
	inAPIKey    place = "X-Api-Key"
	inGoogleKey place = "X-Goog-Api-Key"
	inBearer    place = "Authorization"
)

// credential returns where the request carries the endpoint's key. A key in the query is passed on in a header, because addresses end up in logs.
func (s *Session) credential(r *http.Request) (place, bool) {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, presented := range []struct {
		place place
		key   string
	}{{inAPIKey, r.Header.Get("X-Api-Key")}, {inGoogleKey, r.Header.Get("X-Goog-Api-Key")}, {inBearer, bearer}, {inGoogleKey, r.URL.Query().Get("key")}} {
		if sum := sha256.Sum256([]byte(presented.key)); subtle.ConstantTimeCompare(sum[:], s.key[:]) == 1 {
			return presented.place, true
		}
	}
	return "", false
}
