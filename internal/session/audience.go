package session

import (
	"sync"
)

const (
	// queueLimit bounds what waits for one reader.
	queueLimit = 256 << 10
	// recentLimit is what somebody who attaches late is shown: some screens.
	recentLimit = 16 << 10
)

// audience are those who read what is printed. Nobody is waited for.
type audience struct {
	mu      sync.Mutex
	readers map[*reader]bool
	recent  []byte
	closed  bool
}

// reader is one of them: a queue of bounded length.
type reader struct {
	mu      sync.Mutex
	queue   []byte
	lost    int64 // bytes dropped before the queue
	state   *Info // the newest, if it was not taken
	closed  bool
	arrived chan struct{} // holds one token when there is something to take
}

// join begins to read, with what was printed last.
func (a *audience) join() *reader {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &reader{arrived: make(chan struct{}, 1), queue: append([]byte(nil), a.recent...), closed: a.closed}
	r.signal()
	if a.readers == nil {
		a.readers = map[*reader]bool{}
	}
	a.readers[r] = true
	return r
}

func (a *audience) leave(r *reader) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.readers, r)
}

// Write implements io.Writer.
func (a *audience) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recent = append(a.recent, p[max(0, len(p)-recentLimit):]...)
	if over := len(a.recent) - recentLimit; over > recentLimit {
		a.recent = append(a.recent[:0], a.recent[over:]...)
	}
	for r := range a.readers {
		r.add(p)
	}
	return len(p), nil
}

// tell passes on a change of the session.
func (a *audience) tell(info Info) {
	a.each(func(r *reader) { r.state = &info })
}

// close tells that nothing more comes.
func (a *audience) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.each(func(r *reader) { r.closed = true })
}

func (a *audience) each(act func(*reader)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for r := range a.readers {
		r.mu.Lock()
		act(r)
		r.mu.Unlock()
		r.signal()
	}
}

func (r *reader) add(p []byte) {
	r.mu.Lock()
	if len(r.queue)+len(p) > queueLimit {
		r.lost += int64(len(r.queue))
		r.queue = r.queue[:0]
	}
	r.queue = append(r.queue, p...)
	r.mu.Unlock()
	r.signal()
}

func (r *reader) signal() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

// take returns what waits; buffer, which was taken before, is used again.
func (r *reader) take(buffer []byte) (output []byte, lost int64, state *Info, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	output, lost, state = r.queue, r.lost, r.state
	r.queue, r.lost, r.state = buffer[:0], 0, nil
	return output, lost, state, r.closed
}
