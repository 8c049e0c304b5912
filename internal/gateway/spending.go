package gateway

import (
	"errors"
	"fmt"
	"time"
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

// above is s without what is below zero.
func (s Spending) above() Spending {
	return Spending{max(0, s.Requests), max(0, s.Tokens), max(0, s.CostMicroUSD)}
}

// ErrSpent is of a budget that is used up; what wraps it says which and how far, for people.
var ErrSpent = errors.New("is used up")

// spent is a budget that has too little left.
type spent struct {
	text string
	// until is when it is filled again; zero if that takes a person.
	until time.Time
}

func (e *spent) Error() string { return e.text }
func (e *spent) Unwrap() error { return ErrSpent }

// account is what a budget knows when it is asked.
type account struct {
	name          string
	ceiling, used Spending
	// held is what requests on their way may yet use, and holds how many there are.
	held  Spending
	holds int
	until time.Time
}

// grant is the judgement over one more request: what is set aside for it, or that it has to wait for
// those on their way (ok is false), or an error because it cannot fit however they end. A request that
// is alone may use what is left although it asks for more, as long as that holds what it sends: its
// answer is cut off where the rest ends.
func (a account) grant(want Ask) (set Spending, ok bool, err error) {
	if err := a.over(0); err != nil {
		return set, false, err
	}
	all := a.used.add(a.held)
	if a.holds == 0 {
		if err := a.tooFew(want.Least); err != nil {
			return set, false, err
		}
	}
	set = want.Most
	for _, part := range []struct {
		ceiling, taken int64
		set            *int64
	}{{a.ceiling.Tokens, all.Tokens, &set.Tokens}, {a.ceiling.CostMicroUSD, all.CostMicroUSD, &set.CostMicroUSD}} {
		if part.ceiling == 0 || *part.set <= part.ceiling-part.taken {
			continue
		}
		if a.holds > 0 {
			return Spending{}, false, nil
		}
		*part.set = part.ceiling - part.taken
	}
	return set, true, nil
}

// tooFew: what a request sends is billed whatever becomes of its answer.
func (a account) tooFew(least Spending) error {
	left := a.ceiling.sub(a.used)
	switch {
	case a.ceiling.Tokens > 0 && least.Tokens > left.Tokens:
		return a.spent("the next request sends about %d tokens, and %d of %d are left", least.Tokens, left.Tokens, a.ceiling.Tokens)
	case a.ceiling.CostMicroUSD > 0 && least.CostMicroUSD > left.CostMicroUSD:
		return a.spent("the next request costs at least $%.6f, and $%.6f of $%.6f are left", dollars(least.CostMicroUSD), dollars(left.CostMicroUSD), dollars(a.ceiling.CostMicroUSD))
	}
	return nil
}

// over reports the first ceiling that is passed by at least so much. Requests are counted when
// they begin, so none can pass it later.
func (a account) over(by int64) error {
	u, c := a.used, a.ceiling
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

func (a account) spent(format string, figures ...any) error {
	return &spent{fmt.Sprintf("the budget of %s %v: %s", a.name, ErrSpent, fmt.Sprintf(format, figures...)), a.until}
}

func dollars(microUSD int64) float64 { return float64(microUSD) / 1e6 }
