package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// errBrokenOff: who applied the change did not come to the write.
var errBrokenOff = errors.New("broken off before it was written")

// longChange ends a batch: those whose changes are made by then have waited
// enough for other people's.
const longChange = 10 * time.Millisecond

// Update changes the document under its lock, so that no other update is lost,
// and returns when the change is durable. change may be called once or not at
// all, must not use this document itself, and has no effect if it returns an
// error. Equal bytes are not written again.
//
// Updates that wait in this process for the same document are written together:
// one goroutine takes the lock and calls the change functions of all that came
// meanwhile, each on what the one before it left. Eight writers so wait for as
// many flushes as one. Other processes get the lock between two such batches.
func (d *Document[T]) Update(ctx context.Context, change func(*T) error) error {
	if d.err != nil {
		return d.err
	}
	u := &update[T]{change: change, ended: ctx.Err, ready: make(chan struct{}), err: errBrokenOff}
	if !d.enqueue(u) {
		select {
		case <-u.ready:
		case <-ctx.Done():
			if d.withdraw(u) {
				return fmt.Errorf("update %s: %w", d.Path(), ctx.Err())
			}
			<-u.ready
		}
	}
	if u.leads {
		defer d.handOver(u)
		if err := d.locked(ctx, d.writeWaiting); err != nil {
			return err
		}
	}
	return u.err
}

// writeWaiting applies what waits and writes it. It looks at the queue as late
// as it can, because whoever comes later waits for one write more.
func (d *Document[T]) writeWaiting(f *folder) error {
	old, value, err := d.begin(f)
	b := &batch[T]{document: d, folder: f, value: value, data: old, updates: d.take()}
	defer b.answer()
	if err == nil {
		b.apply()
		err = d.put(f, old, b.data)
	}
	for _, u := range b.updates {
		if errors.Is(u.err, errBrokenOff) {
			u.err = err
		}
	}
	return nil
}

// begin reads the document, or makes the one that an update starts from.
func (d *Document[T]) begin(f *folder) ([]byte, T, error) {
	data, value, err := d.read(f)
	if errors.Is(err, fs.ErrNotExist) && d.initial != nil {
		return nil, d.begun(), nil
	}
	return data, value, err
}

// batch is updates that become one write.
type batch[T any] struct {
	document *Document[T]
	folder   *folder
	updates  []*update[T]
	// value is the document after the last change, data how it will be written.
	value T
	data  []byte
	// took is how long the changes took.
	took time.Duration
	// spoiled: value is what a change left that returned an error.
	spoiled bool
}

// apply leaves errBrokenOff to those that were applied, and the rest in the queue after a long change.
func (b *batch[T]) apply() {
	for i, u := range b.updates {
		if b.took > longChange {
			b.document.putBack(b.updates[i:])
			b.updates = b.updates[:i]
			return
		}
		if err := u.ended(); err != nil {
			u.err = fmt.Errorf("update %s: %w", b.document.Path(), err)
		} else if err := b.applyOne(u.change); err != nil {
			u.err, b.spoiled = err, true
		}
	}
}

func (b *batch[T]) applyOne(change func(*T) error) error {
	if b.spoiled {
		if err := b.restore(); err != nil {
			return err
		}
	}
	begun := b.document.store.clock()
	err := change(&b.value)
	b.took += b.document.store.clock().Sub(begun)
	if err != nil {
		return err
	}
	data, err := b.document.encode(&b.value)
	if err == nil {
		b.data = data
	}
	return err
}

// restore makes value what it was before the change that failed.
func (b *batch[T]) restore() (err error) {
	if b.data == nil {
		_, b.value, err = b.document.begin(b.folder)
	} else {
		b.value, err = b.document.understand(b.data)
	}
	b.spoiled = err != nil
	return err
}

func (b *batch[T]) answer() {
	for _, u := range b.updates {
		if !u.leads {
			close(u.ready)
		}
	}
}
