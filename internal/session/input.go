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

func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.arrived.Broadcast()
}

func (h *host) typeIn(p []byte) error {
	if h.order.Config.Mode == Headless {
		return ErrNoTerminal
	}
	h.detecting.Lock()
	h.detector.Typed(p)
	h.detecting.Unlock()
	// Type all of p or, if the agent hasn't read for a long time, nothing.
	h.input.mu.Lock()
	defer h.input.mu.Unlock()
	if h.input.closed {
		return ErrNotRunning
	}
	if len(h.input.queue)+len(p) > inputLimit {
		return ErrBusy
	}
	h.input.queue = append(h.input.queue, p...)
	h.input.arrived.Signal()
	return nil
}
