package gateway

import (
	"errors"
	"fmt"
	"sync"
)

// Spending is what was used or what may be; as a ceiling, zero means none.
type Spending struct {
	// Requests counts those for an answer of a model.
	Requests int64
	// Tokens are input and output together, those of caches included.
	Tokens int64
	// CostMicroUSD is in millionths of a US dollar, rounded up per answer.
	CostMicroUSD int64
}

func (s Spending) add(t Spending) Spending {
	return Spending{s.Requests + t.Requests, s.Tokens + t.Tokens, s.CostMicroUSD + t.CostMicroUSD}
}

func (s Spending) sub(t Spending) Spending {
	return Spending{s.Requests - t.Requests, s.Tokens - t.Tokens, s.CostMicroUSD - t.CostMicroUSD}
}

// ErrSpent is of a budget that is used up; what wraps it says which and how far, for people.
var ErrSpent = errors.New("is used up")

// Budget is what sessions may use together, such as those of a request or of a day. It is called
// concurrently and must not block for long. Whoever makes one keeps it across restarts: see Allowance.
type Budget interface {
	// Reserve is asked before a request, which it counts: an error refuses it and ends the session.
	Reserve() error
	// Spend is told what was used since it was told last, while an answer still streams. An error,
	// because the budget is exceeded, cuts the stream and ends the session. What was an estimate is
	// corrected later, so amounts may be negative.
	Spend(Spending) error
}

// Allowance is a Budget in memory.
type Allowance struct {
	name    string
	ceiling Spending

	mu   sync.Mutex
	used Spending
}

// NewAllowance begins where an earlier one stopped. The name ("the request", "today") is for people.
func NewAllowance(name string, ceiling, used Spending) *Allowance {
	return &Allowance{name: name, ceiling: ceiling, used: used}
}

// Used is what to keep.
func (a *Allowance) Used() Spending {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// Reserve implements Budget: a request may begin while anything is left.
func (a *Allowance) Reserve() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.over(0); err != nil {
		return err
	}
	a.used.Requests++
	return nil
}

// Spend implements Budget: an answer may use the last token, and not one more.
func (a *Allowance) Spend(s Spending) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = a.used.add(s)
	return a.over(1)
}

// over reports the first ceiling that is passed by at least so much. Requests are counted when
// they begin, so none can pass it later.
func (a *Allowance) over(by int64) error {
	u, c := a.used, a.ceiling
	switch {
	case c.Requests > 0 && by == 0 && u.Requests >= c.Requests:
		return fmt.Errorf("the budget of %s %w: %d of %d requests", a.name, ErrSpent, u.Requests, c.Requests)
	case c.Tokens > 0 && u.Tokens >= c.Tokens+by:
		return fmt.Errorf("the budget of %s %w: %d of %d tokens", a.name, ErrSpent, u.Tokens, c.Tokens)
	case c.CostMicroUSD > 0 && u.CostMicroUSD >= c.CostMicroUSD+by:
		return fmt.Errorf("the budget of %s %w: $%.6f of $%.6f", a.name, ErrSpent, float64(u.CostMicroUSD)/1e6, float64(c.CostMicroUSD)/1e6)
	}
	return nil
}
