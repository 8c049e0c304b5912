package intake

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/store"
	"signalbox/internal/workflow"
)

// book is the record .signalbox/issues/orders.json.
type book struct {
	// Since is when this project began to take orders. Earlier ones were for someone else, or no one.
	Since time.Time `json:"since"`
	// Seen is the forge's time of the newest change that was looked at.
	Seen time.Time `json:"seen"`
	// Orders are those that were read, by their ids.
	Orders map[string]entry `json:"orders"`
}

// entry is one order that was read.
type entry struct {
	State  entryState `json:"state"`
	Verb   forge.Verb `json:"verb"`
	Number int        `json:"number"`
	By     string     `json:"by"`
	At     time.Time  `json:"at"`
	// After is the latest run when a new one was ordered; empty if there was none. The new one has a higher id.
	After string `json:"after,omitempty"`
}

// entryState is how far an order is.
type entryState string

const (
	// ordered: a run is to be begun, or was begun and has not ended. A crash leaves it so, and the run is begun or continued again.
	ordered entryState = "ordered"
	// settled: obeyed.
	settled entryState = "settled"
	// refused: its author was told why, or may not give orders.
	refused entryState = "refused"
)

// remembered is how long a settled order is known by its id. Older ones are ignored.
const remembered = 30 * 24 * time.Hour

// margin is how far the clocks of the forge and of this machine may be apart when a project takes orders for the first time.
const margin = 2 * time.Minute

func (i *Intake) book() *store.Document[book] { return bookOf(i.Store) }

func bookOf(s *store.Store) *store.Document[book] { return store.Record[book](s, "issues", "orders") }

// open returns the record, and begins it.
func (i *Intake) open(ctx context.Context) (book, error) {
	b, err := i.book().Load(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	if err == nil && !b.Since.IsZero() {
		return b, nil
	}
	err = i.book().Update(ctx, func(now *book) error {
		if now.Since.IsZero() {
			now.Since = i.Now().UTC().Add(-margin)
			now.Seen = now.Since
		}
		b = *now
		return nil
	})
	return b, err
}

// after is the time from which orders count.
func (b book) after(now time.Time) time.Time {
	if oldest := now.Add(-remembered); oldest.After(b.Since) {
		return oldest
	}
	return b.Since
}

// write records what became of an order.
func (i *Intake) write(ctx context.Context, order forge.Order, number int, e entry) error {
	e.Verb, e.Number, e.By, e.At = order.Verb, number, order.By, order.At
	return i.book().Update(ctx, func(b *book) error {
		orders := maps.Clone(b.Orders)
		if orders == nil {
			orders = map[string]entry{}
		}
		oldest := i.Now().Add(-remembered)
		maps.DeleteFunc(orders, func(_ string, old entry) bool { return old.State != ordered && old.At.Before(oldest) })
		orders[order.ID] = e
		b.Orders = orders
		return nil
	})
}

// maxNamed is how many orders a run's signals name. The record has all of them; the run's are for what a crash left out of it.
const maxNamed = 50

// name names an order in the signals. It reports whether it was named there before.
func name(s *workflow.Signals, id string) (before bool) {
	if slices.Contains(s.Orders, id) {
		return true
	}
	orders := append(slices.Clone(s.Orders), id)
	s.Orders = orders[max(0, len(orders)-maxNamed):]
	return false
}
