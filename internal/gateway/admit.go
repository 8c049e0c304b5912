package gateway

import (
	"crypto/sha256"
	"crypto/subtle"

	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// serve answers one request, from any process that can reach the port.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	if status := g.stray(r); status != 0 {
		turnAway(w, status)
		return
	}
	// The path begins with the session's token.
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	g.mu.Lock()
	s, there := g.sessions[sha256.Sum256([]byte(token))]
	g.mu.Unlock()
	switch {
	case !there || len(token) != secretLength:
		turnAway(w, http.StatusNotFound)
		return
	case s == nil:
		turnAway(w, http.StatusGone)
		return
	}
	path = "/" + path
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

// statusOver is the status that ends every agent at once, in all of the recordings: a malformed request stays malformed. Some agents retry 401 and
// 403 for minutes.
const statusOver = http.StatusBadRequest

// messageOver is the message an agent gets when its session was cut. It never varies, because some agents decide by words and numbers in an error
// whether to retry or to shorten the conversation. The real reason is in Session.Failure.
const messageOver = "Signalbox has ended this session. Stop here."

// refuse answers in the format of the agent's vendor.
func refuse(w http.ResponseWriter, d dialect, status int, message string) {
	if d == nil {
		turnAway(w, status)
		return
	}
	body, err := json.Marshal(d.refusal(status, message), json.Deterministic(true))
	if err != nil {
		turnAway(w, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func refuseOver(w http.ResponseWriter, d dialect) {
	refuse(w, d, statusOver, messageOver)
}

// drain reads the rest of a request. A client that is still sending when the connection closes sees a network error, and retries.
func drain(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxRequest))
}
