package engine

import (
	"slices"
	"sync"
)

// inFront is how many runs of one process look for a slot at once and say who holds the slots. Each change of hands
// costs them a look and a save; the others wait for their turn in silence, so that a thousand cost no more than these.
const inFront = 8

// line is the order in which the runs of this process look for a slot. It decides nothing that a crash could
// lose: all of them are QUEUED.
type line struct {
	mu     sync.Mutex
	places []*place
}

// place is a run's place in the line.
type place struct {
	// turn is closed when the run is in front.
	turn  chan struct{}
	front bool
}

func (l *line) join() *place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &place{turn: make(chan struct{})}
	l.places = append(l.places, p)
	l.moveUp()
	return p
}

func (l *line) leave(p *place) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.places = slices.DeleteFunc(l.places, func(other *place) bool { return other == p })
	l.moveUp()
}

func (l *line) moveUp() {
	for _, p := range l.places[:min(inFront, len(l.places))] {
		if !p.front {
			p.front = true
			close(p.turn)
		}
	}
}
