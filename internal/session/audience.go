package session

import (
	"slices"
	"sync"
	"time"

	"signalbox/internal/session/terminal"
)

const (
	// queueLimit bounds what waits for one reader.
	queueLimit = 256 << 10
	// recentLimit is what somebody who attaches late is shown at least: some screens.
	recentLimit = 16 << 10
)

// audience are those who read what is printed. Nobody is waited for.
type audience struct {
	// clock, if there is one, tells readers when output came.
	clock   func() time.Time
	mu      sync.Mutex
	readers map[*reader]bool
	recent  []byte
	// before are the modes where recent begins, which is never within a sequence.
	before *terminal.Modes
	// shown is what terminals have that read from the beginning; nil where readers are none.
	shown  *shown
	closed bool
}

// shown is what a terminal keeps of what was printed: its modes and, as nothing scrolls there, the
// alternate screen.
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

// resize tells the size of the terminals from here on.
func (a *audience) resize(rows, columns int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown.rows, a.shown.columns = rows, columns
	if a.shown.screen != nil {
		a.shown.screen.Resize(rows, columns)
	}
}

// bracketsPaste reports whether pasted text is wanted in brackets: by what was printed up to now, also where a part of that is still
// held back from the record.
func (a *audience) bracketsPaste() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.shown.modes.BracketsPaste()
}

// reader is one of them: a queue of bounded length.
type reader struct {
	mu      sync.Mutex
	queue   []byte
	came    time.Time // the last of queue
	lost    int64     // bytes dropped before the queue
	state   *Info     // the newest, if it was not taken
	closed  bool
	arrived chan struct{} // holds one token when there is something to take
}

// join begins to read, with what was printed last; of the alternate screen, with that as it stands.
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

// replay appends what a reader needs to go on from here.
func (a *audience) replay(to []byte) []byte {
	switch {
	case a.shown == nil:
		return append(to, a.recent...)
	case a.shown.screen != nil:
		return a.shown.screen.AppendTo(append(to, a.shown.modes.Restore()...))
	}
	return append(append(to, a.before.Restore()...), a.recent...)
}

// last is what was printed last.
func (a *audience) last() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.recent)
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

func (r *reader) signal() {
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

// passing is what a reader takes at once.
type passing struct {
	output []byte
	came   time.Time // the last of output; zero: not known
	lost   int64
	state  *Info
	closed bool
}

// take returns what waits; buffer, which was taken before, is used again.
func (r *reader) take(buffer []byte) passing {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := passing{r.queue, r.came, r.lost, r.state, r.closed}
	r.queue, r.came, r.lost, r.state = buffer[:0], time.Time{}, 0, nil
	return p
}
