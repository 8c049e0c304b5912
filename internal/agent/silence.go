package agent

import (
	"errors"
	"io"
	"sync"
	"time"
)

// errSilent ends a call that printed nothing for too long.
var errSilent = errors.New("the agent printed nothing for too long")

// errTooLong ends a call that ran for too long.
var errTooLong = errors.New("the agent worked for too long")

// silence is an idle deadline that pauses while the agent waits for an answer.
type silence struct {
	limit time.Duration
	end   func()

	mu    sync.Mutex
	timer *time.Timer
	// held counts the waiting questions, plus one after stop.
	held int
}

// passed runs when the timer fires, possibly just as output arrives or a question begins to wait. A waiting question prevents the end. Output does
// not: it was late, if only by that moment.
func (s *silence) passed() {
	s.mu.Lock()
	silent := s.held == 0
	s.mu.Unlock()
	if silent {
		s.end()
	}
}

func (s *silence) restart() {
	if s.timer != nil && s.held == 0 {
		s.timer.Reset(s.limit)
	}
}

func (s *silence) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *silence) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.restart()
}

// hearing returns a writer that restarts the deadline on each write to w.
func (s *silence) hearing(w io.Writer) io.Writer { return hearing{s, w} }

type hearing struct {
	*silence
	to io.Writer
}

func (h hearing) Write(p []byte) (int, error) {
	h.mu.Lock()
	h.restart()
	h.mu.Unlock()
	return h.to.Write(p)
}
