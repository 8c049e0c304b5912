package machine

import (
	"slices"

	"signalbox/internal/workflow"
)

// spend books what calls used, on the day of now. What a session uses is booked while it works, so that what it has
// used counts for everybody from then on, and a kill loses no more than what was not told yet.
func (m *machine) spend(u workflow.Usage, calls int) {
	j := &m.run.Details
	days, date := slices.Clone(j.Days), workflow.DateOf(m.now)
	if n := len(days); n == 0 || days[n-1].Date != date {
		days = append(days, workflow.Day{Date: date})
	}
	today := &days[len(days)-1]
	today.Usage, today.Calls = today.Usage.Plus(u), today.Calls+calls
	j.Days = days
	j.Spent = j.Spent.Plus(u)
	j.Used.Calls += calls
	j.Used.Tokens += u.Tokens()
	j.Used.CostMicroUSD += u.CostMicroUSD
}

// sessionBegan counts a session before it can use anything.
func (m *machine) sessionBegan(e workflow.SessionBegan) {
	j := &m.run.Details
	j.Epoch = max(j.Epoch, e.Epoch)
	m.ceil(e.Budget)
	if e.Grant {
		j.Used.Tokens, j.Used.CostMicroUSD, j.Used.Calls = 0, 0, 0
	}
	m.spend(workflow.Usage{}, 1)
}

// ceil sets what the run's agents may use; nil leaves it as it is.
func (m *machine) ceil(c *workflow.Spending) {
	if c != nil {
		l := &m.run.Details.Settings.Limits
		l.Tokens, l.CostMicroUSD, l.Calls = c.Tokens, c.CostMicroUSD, c.Calls
	}
}
