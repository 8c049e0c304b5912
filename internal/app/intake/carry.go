package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"signalbox/internal/lazy"
	"signalbox/internal/store"
	"signalbox/internal/store/strict"
)

// carried is what a checkout remembers of the orders about one issue, for another checkout to go on with.
type carried struct {
	Orders map[string]entry `json:"orders"`
}

// Carried returns what the project remembers of the orders about an issue, as JSON; empty if it took none.
func Carried(ctx context.Context, s *store.Store, number int) ([]byte, error) {
	b, err := bookOf(s).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	maps.DeleteFunc(b.Orders, func(_ string, e entry) bool { return e.Number != number })
	if err != nil || len(b.Orders) == 0 {
		return nil, err
	}
	return json.Marshal(carried{b.Orders})
}

var orderID = lazy.Pattern(`^(?:comment|label)-[0-9]{1,20}$`)

// Adopt adds what another checkout remembers of the orders about an issue. If this one took no orders yet, those given since then count
// from now on.
func Adopt(ctx context.Context, s *store.Store, number int, theirs []byte, since time.Time) error {
	memory := carried{}
	if len(theirs) > 0 {
		var err error
		if memory, err = strict.Decode[carried](theirs, ""); err != nil {
			return fmt.Errorf("read what was remembered of orders: %w", err)
		}
	}
	for id, e := range memory.Orders {
		known := e.State == ordered || e.State == settled || e.State == refused
		if !orderID().MatchString(id) || e.Number != number || !known {
			return fmt.Errorf("read what was remembered of orders: %q is none about issue %d", id, number)
		}
	}
	return bookOf(s).Update(ctx, func(b *book) error {
		if b.Since.IsZero() {
			b.Since, b.Seen = since.UTC(), since.UTC()
		}
		orders := maps.Clone(b.Orders)
		if orders == nil {
			orders = map[string]entry{}
		}
		for id, e := range memory.Orders {
			if has, known := orders[id]; !known || has.State == ordered {
				orders[id] = e
			}
		}
		b.Orders = orders
		return nil
	})
}
