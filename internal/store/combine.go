package store

import (
	"reflect"
	"slices"
	"sync"
)

// updating has a queue for every document with an update under way.
type updating struct {
	mu     sync.Mutex
	queues map[queueKey]any // of *queue[T], T being the key's typ
}

type queueKey struct {
	path string
	typ  reflect.Type
}

// queue is in the order in which updates came. The first one leads.
type queue[T any] struct{ waiting []*update[T] }

type update[T any] struct {
	change func(*T) error
	// ended is the error of the caller's context.
	ended func() error
	// ready is closed when the update has its result, or is to lead.
	ready chan struct{}
	leads bool
	err   error
}

// enqueue reports whether the update leads.
func (d *Document[T]) enqueue(u *update[T]) bool {
	all := d.store.updating
	all.mu.Lock()
	defer all.mu.Unlock()
	q, busy := all.queues[d.queueKey()].(*queue[T])
	if !busy {
		q = &queue[T]{}
		all.queues[d.queueKey()] = q
	}
	q.waiting = append(q.waiting, u)
	u.leads = !busy
	return u.leads
}

func (d *Document[T]) queueKey() queueKey { return queueKey{d.Path(), reflect.TypeFor[T]()} }

// waiting calls act with the document's queue, which is there while an update leads.
func (d *Document[T]) waiting(act func(*queue[T])) {
	all := d.store.updating
	all.mu.Lock()
	defer all.mu.Unlock()
	if q, ok := all.queues[d.queueKey()].(*queue[T]); ok {
		act(q)
	}
}

// withdraw takes out an update that is neither led nor leads.
func (d *Document[T]) withdraw(u *update[T]) (withdrawn bool) {
	d.waiting(func(q *queue[T]) {
		if i := slices.Index(q.waiting, u); i >= 0 && !u.leads {
			q.waiting, withdrawn = slices.Delete(q.waiting, i, i+1), true
		}
	})
	return withdrawn
}

// handOver lets the next one lead. Each leads once, so that none writes for others without end.
func (d *Document[T]) handOver(u *update[T]) {
	d.waiting(func(q *queue[T]) {
		if i := slices.Index(q.waiting, u); i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1) // it did not get the lock
		}
		if len(q.waiting) == 0 {
			delete(d.store.updating.queues, d.queueKey())
			return
		}
		q.waiting[0].leads = true
		close(q.waiting[0].ready)
	})
}

// take empties the queue.
func (d *Document[T]) take() (all []*update[T]) {
	d.waiting(func(q *queue[T]) { all, q.waiting = q.waiting, nil })
	return all
}

// putBack puts what was taken before what came since.
func (d *Document[T]) putBack(all []*update[T]) {
	d.waiting(func(q *queue[T]) { q.waiting = append(all, q.waiting...) })
}
