package gateway

import (
	"context"
	"sync"
)

// Ask is what one request may use: at least what it sends, at most what the vendor may bill.
type Ask struct{ Least, Most Spending }

// Budget is what sessions may use together, such as those of a day. It is called concurrently.
type Budget interface {
	// Reserve counts a request and sets aside what it may use, before it is sent. It waits while only
	// what is set aside for others is in its way, until ctx ends. An error that wraps ErrSpent refuses
	// the request and ends the session.
	Reserve(ctx context.Context, want Ask) (Hold, error)
}

// Hold is what a Budget has set aside for one request.
type Hold interface {
	// Spend is told what the request used since it was told last, while its answer still streams. An
	// error, because the budget is exceeded, cuts the stream and ends the session. What was an estimate
	// is corrected later, so amounts may be negative.
	Spend(Spending) error
	// Release gives back what was set aside and not used. It is called once.
	Release()
}

// Allowance is a Budget in memory.
type Allowance struct {
	// turn is held by the one request that waits at the head of the others, so that a large one is
	// not passed by small ones for ever.
	turn chan struct{}

	mu      sync.Mutex
	account account
	// freed is closed when something was given back.
	freed chan struct{}
}

// NewAllowance begins where an earlier one stopped. The name ("the request", "today") is for people.
func NewAllowance(name string, ceiling, used Spending) *Allowance {
	return &Allowance{turn: make(chan struct{}, 1), freed: make(chan struct{}), account: account{name: name, ceiling: ceiling, used: used}}
}

// Used is what to keep.
func (a *Allowance) Used() Spending {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.account.used
}

// Reserve implements Budget.
func (a *Allowance) Reserve(ctx context.Context, want Ask) (Hold, error) {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-a.turn }()
	for {
		hold, freed, err := a.try(want)
		if hold != nil || err != nil {
			return hold, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (a *Allowance) try(want Ask) (Hold, chan struct{}, error) {
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
}

// held is a Hold of an Allowance.
type held struct {
	allowance *Allowance
	// set is what was set aside, used what of it was used by now.
	set, used Spending
}

// Spend implements Hold: an answer may use the last token, and not one more.
func (h *held) Spend(s Spending) error {
	a := h.allowance
	a.mu.Lock()
	defer a.mu.Unlock()
	a.account.used = a.account.used.add(s)
	h.move(h.used.add(s))
	return a.account.over(1)
}

// move takes what was used out of what is set aside; the allowance's mu is held.
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
