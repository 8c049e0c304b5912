package gateway

import (
	"errors"
	"fmt"
	"time"
)

// Spending is an amount used, reserved or allowed. As a limit, zero means none.
type Spending struct {
	// Requests counts requests that a model answers.
	Requests int64
	// Tokens are input and output together, including cached ones.
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

// above returns s with negative fields set to zero.
func (s Spending) above() Spending {
	return Spending{max(0, s.Requests), max(0, s.Tokens), max(0, s.CostMicroUSD)}
}

// ErrSpent: a budget is used up. The wrapping error says which one and by how much, for people.
var ErrSpent = errors.New("is used up")

// spent is the error of a budget with too little left.
type spent struct {
	// error wraps ErrSpent, and is for people.
	error
	// until is when the budget is renewed; zero if only a person can raise it.
	until time.Time
}

func (e *spent) Unwrap() error { return e.error }

// account is the state of a budget.
type account struct {
	name         string
	budget, used Spending
	// held is what running requests may still use; holds is how many there are.
	held  Spending
	holds int
	until time.Time
}

// grant decides about one more request. It returns what to reserve; or ok false if the request must wait for others; or an error if it can't fit
// whatever the others use. A request that is alone may use the rest of the budget even if it asked for more, as long as its own input fits: its
// answer is cut off where the budget ends.
func (a account) grant(want Ask) (set Spending, ok bool, err error) {
	if err := a.over(0); err != nil {
		return set, false, err
	}
	// Its own input is billed in any case.
	switch least, left := want.Least, a.budget.sub(a.used); {
	case a.holds > 0:
	case a.budget.Tokens > 0 && least.Tokens > left.Tokens:
		return set, false, a.spent("the next request sends about %d tokens, and %d of %d are left", least.Tokens, left.Tokens, a.budget.Tokens)
	case a.budget.CostMicroUSD > 0 && least.CostMicroUSD > left.CostMicroUSD:
		return set, false, a.spent("the next request costs at least $%.6f, and $%.6f of $%.6f are left", dollars(least.CostMicroUSD), dollars(left.CostMicroUSD), dollars(a.budget.CostMicroUSD))
	}
	all := a.used.add(a.held)
	set = want.Most
	for _, part := range []struct {
		budget, taken int64
		set           *int64
	}{{a.budget.Tokens, all.Tokens, &set.Tokens}, {a.budget.CostMicroUSD, all.CostMicroUSD, &set.CostMicroUSD}} {
		if part.budget == 0 || *part.set <= part.budget-part.taken {
			continue
		}
		if a.holds > 0 {
			return Spending{}, false, nil
		}
		*part.set = part.budget - part.taken
	}
	return set, true, nil
}

// over returns an error for the first limit exceeded by at least this many. Requests are counted when they begin, so they can't exceed theirs
// later.
func (a account) over(by int64) error {
	u, c := a.used, a.budget
	switch {
	case c.Requests > 0 && by == 0 && u.Requests >= c.Requests:
		return a.spent("%d of %d requests", u.Requests, c.Requests)
	case c.Tokens > 0 && u.Tokens >= c.Tokens+by:
		return a.spent("%d of %d tokens", u.Tokens, c.Tokens)
	case c.CostMicroUSD > 0 && u.CostMicroUSD >= c.CostMicroUSD+by:
		return a.spent("$%.6f of $%.6f", dollars(u.CostMicroUSD), dollars(c.CostMicroUSD))
	}
	return nil
}

// spent returns the error of this budget.
func (a account) spent(format string, figures ...any) error {
	return &spent{fmt.Errorf("the budget of %s %w: %s", a.name, ErrSpent, fmt.Sprintf(format, figures...)), a.until}
}

func dollars(microUSD int64) float64 { return float64(microUSD) / 1e6 }
