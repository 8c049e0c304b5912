package gateway

import (
	"context"
	"sync"
	"time"
)

// Ask is the range of what one request may use: at least its own input, at most what the vendor may bill.
type Ask struct{ Least, Most Spending }

// Budget is shared by sessions, for example those of one day. Its methods may be called concurrently.
type Budget interface {
	// Reserve counts a request and reserves its usage before it is sent. It waits until ctx ends as long as only other requests' reservations are
	// in the way. An error that wraps ErrSpent refuses the request and ends the session.
	Reserve(ctx context.Context, want Ask) (Hold, error)
}

// Hold is a Budget's reservation for one request.
type Hold interface {
	// Spend reports what the request used since the last call, while its answer still streams. An error means that the budget is exceeded; it cuts
	// the stream and ends the session. Estimates are corrected later, so amounts may be negative.
	Spend(Spending) error
	// Release returns the unused rest of the reservation. It is called once.
	Release()
}

// Allowance is a Budget in memory.
type Allowance struct {
	// turn is held by the first waiting request, so that small requests don't overtake a large one forever.
	turn chan struct{}

	mu      sync.Mutex
	account account
	// freed is closed when something was returned.
	freed chan struct{}
}

// NewAllowance returns an Allowance of which used is already spent. The name ("the request", "today") is for people.
func NewAllowance(name string, budget, used Spending) *Allowance {
	return &Allowance{turn: make(chan struct{}, 1), freed: make(chan struct{}), account: account{name: name, budget: budget, used: used}}
}

// Reserve implements Budget.
func (a *Allowance) Reserve(ctx context.Context, want Ask) (Hold, error) {
	return inTurn(ctx, a.turn, 0, func() (Hold, chan struct{}, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		set, ok, err := a.account.grant(want)
		if !ok || err != nil {
			return nil, a.freed, err
		}
		a.account.used.Requests++
		a.account.held = a.account.held.add(set)
		a.account.holds++
		return &held{allowance: a, set: set}, nil, nil
	})
}

// inTurn tries to reserve, as the only one who has the turn, until it succeeds, fails or ctx ends: anew when something was freed
// and, where poll is not zero, after so long.
func inTurn(ctx context.Context, turn chan struct{}, poll time.Duration, try func() (Hold, chan struct{}, error)) (Hold, error) {
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-turn }()
	for {
		hold, freed, err := try()
		if hold != nil || err != nil {
			return hold, err
		}
		var look <-chan time.Time
		if poll > 0 {
			look = time.After(poll)
		}
		select {
		case <-freed:
		case <-look:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// held is a Hold of an Allowance.
type held struct {
	allowance *Allowance
	// set is what was reserved; used is how much of it was used so far.
	set, used Spending
}

// Spend implements Hold. An answer may use the last token of the budget, but no more.
func (h *held) Spend(s Spending) error {
	a := h.allowance
	a.mu.Lock()
	defer a.mu.Unlock()
	a.account.used = a.account.used.add(s)
	h.move(h.used.add(s))
	return a.account.over(1)
}

// move turns a part of the reservation into usage. The caller holds the allowance's mu.
func (h *held) move(used Spending) {
	before := h.set.sub(h.used).above()
	h.used = used
	h.allowance.account.held = h.allowance.account.held.add(h.set.sub(used).above()).sub(before)
}

// Release implements Hold.
func (h *held) Release() {
	a := h.allowance
	a.mu.Lock()
	defer a.mu.Unlock()
	h.move(h.set)
	a.account.holds--
	close(a.freed)
	a.freed = make(chan struct{})
}
