package process

import (
	"errors"
	"io"
	"sync"
)

// Queue is a program's standard input, written while the program runs. Put never waits for the program to read.
type Queue struct {
	limit int

	mu      sync.Mutex
	more    sync.Cond
	waiting []byte
	closed  bool
}

var (
	// ErrQueueFull: the program has not read the earlier input.
	ErrQueueFull = errors.New("input is not read")
	// ErrQueueClosed: the queue accepts no more input.
	ErrQueueClosed = errors.New("input is closed")
)

// NewQueue returns a queue of at most limit bytes.
func NewQueue(limit int) *Queue {
	q := &Queue{limit: limit}
	q.more.L = &q.mu
	return q
}

// Put adds all of p, or adds nothing and returns ErrQueueFull or ErrQueueClosed.
func (q *Queue) Put(p []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrQueueClosed
	}
	if len(q.waiting)+len(p) > q.limit {
		return ErrQueueFull
	}
	q.waiting = append(q.waiting, p...)
	q.more.Broadcast()
	return nil
}

// Read implements io.Reader. It returns io.EOF once the queue is closed and empty.
func (q *Queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) == 0 && !q.closed {
		q.more.Wait()
	}
	if len(q.waiting) == 0 {
		return 0, io.EOF
	}
	n := copy(p, q.waiting)
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil // an idle program's queue takes no memory
	}
	return n, nil
}

// Close ends the input after what is in the queue.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}
