package workflow

import (
	"fmt"
	"slices"
	"time"
)

// Day is what the agents of a run used on one day.
type Day struct {
	// Date is YYYY-MM-DD in UTC.
	Date    string  `json:"date"`
	Usage   Usage   `json:"usage"`
	Calls   int     `json:"calls"`
	Unknown Unknown `json:",embed"`
}

// DateOf is the day of a time.
func DateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// spend books what calls used. What a session uses is booked while it works, so that what it has
// used counts for everybody from then on, and a kill loses no more than what was not told yet.
func (m *machine) spend(u Usage, calls int) {
	j := &m.run.Journey
	j.Days = booked(j.Days, m.now, u, calls)
	j.Spent = j.Spent.plus(u)
	j.Used.Calls += calls
	j.Used.Tokens += u.Tokens()
	j.Used.CostMicroUSD += u.CostMicroUSD
}

// sessionBegan counts a session before it can use anything.
func (m *machine) sessionBegan(e SessionBegan) {
	j := &m.run.Journey
	j.Epoch = max(j.Epoch, e.Epoch)
	m.ceil(e.Ceiling)
	if e.Grant {
		j.Used.Tokens, j.Used.CostMicroUSD, j.Used.Calls = 0, 0, 0
	}
	m.spend(Usage{}, 1)
}

// ceil sets what the run's agents may use; nil leaves it as it is.
func (m *machine) ceil(c *Spending) {
	if c != nil {
		l := &m.run.Journey.Settings.Limits
		l.Tokens, l.CostMicroUSD, l.Calls = c.Tokens, c.CostMicroUSD, c.Calls
	}
}

// booked is a new list of days with so much more on the day of now.
func booked(days []Day, now time.Time, u Usage, calls int) []Day {
	days, date := slices.Clone(days), DateOf(now)
	if n := len(days); n == 0 || days[n-1].Date != date {
		days = append(days, Day{Date: date})
	}
	last := &days[len(days)-1]
	last.Usage, last.Calls = last.Usage.plus(u), last.Calls+calls
	return days
}

// SpentOn is what the run's agents used on a day, the call in hand included.
func (r *Run) SpentOn(date string) Spending {
	var s Spending
	for _, day := range r.Journey.Days {
		if day.Date == date {
			s = s.Plus(Spending{day.Usage.Tokens(), day.Usage.CostMicroUSD, day.Calls})
		}
	}
	if c := r.Journey.Calling; c != nil && DateOf(r.UpdatedAt) == date {
		s = s.Plus(Spending{c.Usage.Tokens(), c.Usage.CostMicroUSD, 1})
	}
	return s
}

// Spending is what agents used, or may use; as a ceiling, 0 is none.
type Spending struct {
	Tokens       int64
	CostMicroUSD int64
	Calls        int
}

// Plus is s and t together.
func (s Spending) Plus(t Spending) Spending {
	return Spending{s.Tokens + t.Tokens, s.CostMicroUSD + t.CostMicroUSD, s.Calls + t.Calls}
}

// Reaches says which part of a ceiling s reaches, in the words of the setting of that name; empty if none.
func (s Spending) Reaches(ceiling Spending, setting string) string {
	switch {
	case ceiling.Tokens > 0 && s.Tokens >= ceiling.Tokens:
		return fmt.Sprintf("%d tokens of %d (%s.tokens)", s.Tokens, ceiling.Tokens, setting)
	case ceiling.CostMicroUSD > 0 && s.CostMicroUSD >= ceiling.CostMicroUSD:
		return fmt.Sprintf("%s of %s (%s.cost_usd)", dollars(s.CostMicroUSD), dollars(ceiling.CostMicroUSD), setting)
	case ceiling.Calls > 0 && s.Calls >= ceiling.Calls:
		return fmt.Sprintf("%s of %d (%s.calls)", countNote(s.Calls, "call"), ceiling.Calls, setting)
	}
	return ""
}

// Left is what s leaves of a ceiling, at least the least where there is one; 0 is still none.
func (s Spending) Left(ceiling Spending) Spending {
	left := ceiling
	if ceiling.Tokens > 0 {
		left.Tokens = max(1, ceiling.Tokens-s.Tokens)
	}
	if ceiling.CostMicroUSD > 0 {
		left.CostMicroUSD = max(1, ceiling.CostMicroUSD-s.CostMicroUSD)
	}
	if ceiling.Calls > 0 {
		left.Calls = max(1, ceiling.Calls-s.Calls)
	}
	return left
}

// Within is the narrower of two ceilings.
func (s Spending) Within(t Spending) Spending {
	narrower := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Spending{narrower(s.Tokens, t.Tokens), narrower(s.CostMicroUSD, t.CostMicroUSD), int(narrower(int64(s.Calls), int64(t.Calls)))}
}
