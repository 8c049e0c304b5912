package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"signalbox/internal/agent"
)

// exchange is one request and its answer.
type exchange struct {
	session *Session
	route   route
	model   string
	path    string
	place   place
	control *http.ResponseController
	cancel  context.CancelCauseFunc
	// silence ends the exchange when the vendor sends nothing.
	silence *time.Timer
	// asked is the size of the request, wants what it says about its answer, and most its reservation.
	asked int
	wants wants
	most  tokens
	holds []Hold
	// sent: the vendor has the request. refused: the vendor answered that it won't process it.
	sent    atomic.Bool
	refused bool
	// counted is what the session has counted for its answer; begun: the answer has started. The session's mu guards both.
	counted share
	begun   bool
}

var (
	errStopped = errors.New("the session is over")
	errSilent  = errors.New("it said nothing for too long")
)

// serve passes on one request and its answer.
func (s *Session) serve(w http.ResponseWriter, r *http.Request, to route, path string, at place) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	x := &exchange{session: s, route: to, model: to.model, path: path, place: at,
		control: http.NewResponseController(w), cancel: cancel}
	switch status := s.enter(x); status {
	case 0:
	case http.StatusGone:
		turnAway(w, status)
		return
	case statusOver:
		drain(w, r)
		refuseOver(w, to.dialect)
		return
	default:
		drain(w, r)
		w.Header().Set("Retry-After", "1") // without it Codex gives up at once
		refuse(w, to.dialect, status, "Too many requests at the same time.")
		return
	}
	defer s.leave(x)
	body, err := x.receive(w, r)
	if err == nil && to.answers {
		err = s.reserve(ctx, x, body)
	}
	if err != nil {
		var large *http.MaxBytesError
		if !errors.As(err, &large) {
			drain(w, r)
		}
		switch {
		case errors.Is(err, errRequest):
			refuse(w, to.dialect, http.StatusBadRequest, "Signalbox: "+err.Error())
		case large != nil:
			refuse(w, to.dialect, http.StatusRequestEntityTooLarge, fmt.Sprintf("Signalbox: a request has at most %d bytes.", large.Limit))
		default: // a budget is used up, or the agent is gone
			refuseOver(w, to.dialect)
		}
		return
	}
	x.asked = len(body)
	x.send(ctx, w, r, body)
	if errors.Is(context.Cause(ctx), errStopped) {
		panic(http.ErrAbortHandler) // a cut stream must not look complete
	}
}

// enter admits an exchange, or returns the status of its refusal.
func (s *Session) enter(x *exchange) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return http.StatusGone
	case s.cause != nil:
		return statusOver
	case len(s.running) >= maxConcurrent:
		return http.StatusTooManyRequests
	}
	s.running[x] = struct{}{}
	s.serving.Add(1)
	return 0
}

// leave ends an exchange, and counts it if its usage was reserved. If the request was sent and got no answer, no one knows what the vendor bills, so
// the whole reservation counts.
func (s *Session) leave(x *exchange) {
	s.mu.Lock()
	begun := x.begun
	unknown := begun && x.sent.Load() && !x.refused && x.counted == share{}
	x.begun = false
	s.mu.Unlock()
	if unknown {
		_ = s.book(x, "", x.most, x.most.input+x.most.output) // it is over, so nothing is left to cut off
	}
	for _, h := range x.holds {
		h.Release()
	}
	if begun {
		s.reportInFlight()
	}
	s.mu.Lock()
	delete(s.running, x)
	s.mu.Unlock()
	s.serving.Done()
}

// send sends the request. The agent gets the vendor's answer, or the end of its session.
func (x *exchange) send(ctx context.Context, w http.ResponseWriter, r *http.Request, body []byte) {
	s := x.session
	asked := r.URL.Query()
	kept := url.Values{}
	for _, name := range queryParameters {
		if values, ok := asked[name]; ok {
			kept[name] = values
		}
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, at(s.upstream, x.path, kept.Encode()).String(), bytes.NewReader(body))
	if err != nil {
		refuseOver(w, x.route.dialect)
		return
	}
	out = out.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { x.sent.Store(x.sent.Load() || info.Err == nil) },
	}))
	out.Header = passedOn(r.Header, s.config.Key, x.place, s.config.Bearer)
	for name, value := range s.config.Headers {
		out.Header.Set(name, value)
	}
	x.silence = time.AfterFunc(s.gateway.config.HeaderTimeout, func() { x.cancel(errSilent) })
	defer x.silence.Stop()
	response, err := s.gateway.config.Transport.RoundTrip(out)
	if err != nil {
		if r.Context().Err() != nil || errors.Is(context.Cause(ctx), errStopped) {
			return
		}
		if over := x.lost(ctx, "cannot be reached", err); over {
			refuseOver(w, x.route.dialect)
			return
		}
		refuse(w, x.route.dialect, http.StatusBadGateway, "Signalbox: "+x.session.server()+" cannot be reached.")
		return
	}
	defer func() { _ = response.Body.Close() }()
	x.answer(ctx, w, r, response)
}

// lost records that the connection to the vendor failed.
func (x *exchange) lost(ctx context.Context, how string, err error) (over bool) {
	if cause := context.Cause(ctx); errors.Is(cause, errSilent) {
		err = cause
	}
	text := err.Error()
	if key := x.session.config.Key; key != "" {
		text = strings.ReplaceAll(text, key, string(masked))
	}
	if !x.route.answers {
		return false
	}
	// An unknown name of a vendor's own server is a passing failure of a name server.
	var unknown *net.DNSError
	if why := lastingReason(err); why != "" && (x.session.config.Source != "" || !errors.As(err, &unknown)) {
		return x.session.recordFailure(verdict{agent.Fail(agent.NoRoute, "%s cannot be reached: %s: %s", x.session.server(), text, why), hopeless})
	}
	return x.session.recordFailure(verdict{agent.Fail(agent.Unreachable, "%s %s: %s", x.session.server(), how, text), passing})
}
