package standin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Fault is what goes wrong with the next requests that it is meant for.
type Fault struct {
	// Method and Path select requests: the method, and a part of the path. Empty selects all.
	Method, Path string
	// Changes selects requests that change something: pushes, and all of the API's but GET. GraphQL counts as a change.
	Changes bool
	// Which selects among these, if it is not nil.
	Which func(*http.Request) bool
	// Skip is how many selected requests pass unharmed before.
	Skip int
	// Times is how often it happens; 0 means once, -1 always.
	Times int
	// Lose: the request is performed, and the connection is cut without an answer.
	Lose bool
	// Wait: the request is performed once the channel is closed.
	Wait <-chan struct{}
	// Arrived is closed when the first request arrives, if it is not nil.
	Arrived chan<- struct{}
	// Status, Header and Body are answered instead, if Status is not 0. Cut announces a longer body than is sent.
	Status int
	Header http.Header
	Body   string
	Cut    bool
}

// Faults are those of one server. The zero value has none.
type Faults struct {
	mu     sync.Mutex
	faults []*Fault
}

// Inject adds a fault. The function ends it, and reports whether it happened.
func (s *Faults) Inject(f Fault) (end func() (happened bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Times == 0 {
		f.Times = 1
	}
	times := f.Times
	s.faults = append(s.faults, &f)
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		happened := f.Times != times
		f.Times = 0
		return happened
	}
}

// Serve performs a request, unless a fault answers instead, and says what was answered.
func (s *Faults) Serve(w http.ResponseWriter, r *http.Request, perform http.HandlerFunc, answered func(status int)) {
	fault := s.fault(r)
	if fault != nil && fault.answer(w) {
		answered(fault.Status)
		return
	}
	answer := httptest.NewRecorder()
	perform(answer, r)
	answered(answer.Code)
	if fault != nil && fault.Lose {
		panic(http.ErrAbortHandler) // performed, and the connection is cut
	}
	send(w, answer)
}

func send(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = answer.Body.WriteTo(w)
}

// fault returns the first one for a request, and waits if it says so.
func (s *Faults) fault(r *http.Request) *Fault {
	f := s.nextFault(r)
	if f == nil {
		return nil
	}
	if f.Arrived != nil {
		close(f.Arrived)
	}
	if f.Wait != nil {
		select {
		case <-f.Wait:
		case <-r.Context().Done():
		}
	}
	return f
}

// nextFault returns a copy: the next request may get the same fault.
func (s *Faults) nextFault(r *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.Times == 0 || !f.selects(r) {
			continue
		}
		if f.Skip--; f.Skip < 0 {
			f.Times--
			copied := *f
			f.Arrived = nil
			return &copied
		}
	}
	return nil
}

func (f *Fault) selects(r *http.Request) bool {
	git := !strings.Contains(r.URL.Path, "/api/")
	changes := r.Method != http.MethodGet && (!git || strings.HasSuffix(r.URL.Path, "/git-receive-pack"))
	return (f.Method == "" || f.Method == r.Method) && strings.Contains(r.URL.Path, f.Path) && (!f.Changes || changes) && (f.Which == nil || f.Which(r))
}

// answer answers instead of the server, if the fault says so.
func (f *Fault) answer(w http.ResponseWriter) bool {
	if f.Status == 0 {
		return false
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for name, values := range f.Header {
		w.Header()[http.CanonicalHeaderKey(name)] = values
	}
	if f.Cut {
		w.Header().Set("Content-Length", "100000")
	}
	w.WriteHeader(f.Status)
	_, _ = strings.NewReader(f.Body).WriteTo(w)
	return true
}
