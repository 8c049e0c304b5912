package session

import (
	"io"
	"sync"
)

// inputLimit bounds what was typed and not read by the agent.
const inputLimit = 64 << 10

// input is what is typed into the agent's terminal: a queue of bounded length.
type input struct {
	mu      sync.Mutex
	arrived sync.Cond
	queue   []byte
	closed  bool
}

func newInput() *input {
	in := &input{}
	in.arrived.L = &in.mu
	return in
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.queue) == 0 && !in.closed {
		in.arrived.Wait()
	}
	if len(in.queue) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.queue)
	in.queue = append(in.queue[:0], in.queue[n:]...)
	return n, nil
}

// add types all of p or, where the agent has not read for long, nothing.
func (in *input) add(p []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed {
		return ErrNotRunning
	}
	if len(in.queue)+len(p) > inputLimit {
		return ErrBusy
	}
	in.queue = append(in.queue, p...)
	in.arrived.Signal()
	return nil
}

func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.arrived.Broadcast()
}
