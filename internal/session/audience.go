package session

import (
	"slices"
	"sync"
	"time"

	"signalbox/internal/session/terminal"
)

const (
	// queueLimit limits what waits for one reader.
	queueLimit = 256 << 10
	// recentLimit is the least that a late reader sees: some screens.
	recentLimit = 16 << 10
)

// audience are the readers of what is printed. It waits for none of them.
type audience struct {
	// clock, if there is one, gives readers the time of the output.
	clock   func() time.Time
	mu      sync.Mutex
	readers map[*reader]bool
	recent  []byte
	// before are the modes at the start of recent, which is never within a sequence.
	before *terminal.Modes
	// shown is the state of a terminal that read from the beginning; nil if the readers are no terminals.
	shown  *shown
	closed bool
}

// shown is what a terminal keeps of printed output: its modes and, as nothing scrolls there, the alternate
// screen.
type shown struct {
	modes         *terminal.Modes
	rows, columns int
	screen        *terminal.Screen // nil while the main one is shown
}

func newTerminals() audience {
	return audience{before: terminal.NewModes(), shown: &shown{modes: terminal.NewModes(), rows: terminal.DefaultRows}}
}

func (s *shown) write(p []byte) {
	for len(p) > 0 {
		n, turned := s.modes.Take(p, len(p))
		if s.screen != nil {
			s.screen.Write(p[:n])
		}
		if turned {
			s.screen = nil
			if s.modes.Alternate() {
				s.screen = terminal.NewScreen(s.rows, s.columns)
			}
		}
		p = p[n:]
	}
}

// resize sets the size of the terminals from here on.
func (a *audience) resize(rows, columns int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown.rows, a.shown.columns = rows, columns
	if a.shown.screen != nil {
		a.shown.screen.Resize(rows, columns)
	}
}

// reader is one reader: a queue of limited length.
type reader struct {
	mu      sync.Mutex
	queue   []byte
	came    time.Time // the last of queue
	lost    int64     // bytes dropped before the queue
	state   *Info     // the newest, if it wasn't taken yet
	closed  bool
	arrived chan struct{} // holds one token when there is something to take
}

// join adds a reader, which begins with the most recent output; if the alternate screen is shown, with that screen.
func (a *audience) join() *reader {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := &reader{arrived: make(chan struct{}, 1), queue: a.replay(nil), closed: a.closed}
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
	if a.shown != nil {
		a.shown.write(p)
	}
	a.recent = append(a.recent, p...)
	if over := len(a.recent) - recentLimit; over > recentLimit {
		over = a.before.Skip(a.recent, over)
		a.recent = append(a.recent[:0], a.recent[over:]...)
	}
	var now time.Time
	if a.clock != nil && len(a.readers) > 0 {
		now = a.clock()
	}
	for r := range a.readers {
		r.mu.Lock()
		if waited := len(r.queue); waited+len(p) <= queueLimit {
			r.queue, r.came = append(r.queue, p...), now
		} else { // Drop what the reader hasn't taken, except for what it needs to continue.
			r.queue, r.came = a.replay(r.queue[:0]), now
			r.lost += int64(max(1, waited-len(r.queue)))
		}
		r.mu.Unlock()
		r.signal()
	}
	return len(p), nil
}

// replay appends what a reader needs to continue from here.
func (a *audience) replay(to []byte) []byte {
	switch {
	case a.shown == nil:
		return append(to, a.recent...)
	case a.shown.screen != nil:
		return a.shown.screen.AppendTo(append(to, a.shown.modes.Restore()...))
	}
	return append(append(to, a.before.Restore()...), a.recent...)
}

// last returns the most recent output.
func (a *audience) last() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.recent)
}

// tell gives the readers the session's new state; nil ends their reading.
func (a *audience) tell(state *Info) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = a.closed || state == nil
	for r := range a.readers {
		r.mu.Lock()
		if state != nil {
			r.state = state
		} else {
			r.closed = true
		}
		r.mu.Unlock()
		r.signal()
	}
}

func (r *reader) signal() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

// passing is what a reader takes in one go.
type passing struct {
	output []byte
	came   time.Time // the last of output; zero: unknown
	lost   int64
	state  *Info
	closed bool
}

// take returns what waits, and reuses buffer, which it returned before.
func (r *reader) take(buffer []byte) passing {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := passing{r.queue, r.came, r.lost, r.state, r.closed}
	r.queue, r.came, r.lost, r.state = buffer[:0], time.Time{}, 0, nil
	return p
}
