// Package board sorts a project's requests as a person looks at them: first those that need a person. Every front end that shows a
// board draws this one, from documents alone. It formats nothing: a card says what can be done as data.
package board

import (
	"cmp"
	"context"
	"slices"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/workflow"
)

// Column is where a card is on the board.
type Column string

const (
	NeedsYou Column = "needs_you" // a person must act before the run can move
	Working  Column = "working"   // an agent or a command works on it
	Waiting  Column = "waiting"   // it moves by itself once something has happened, or hasn't begun
	Ready    Column = "ready"     // tested and reviewed: a person's approval merges it
	Done     Column = "done"      // merged, canceled or closed
)

// Columns lists every Column in the order of the board.
var Columns = []Column{NeedsYou, Working, Waiting, Ready, Done}

// Card is one request, and its latest run if it has one.
type Card struct {
	app.Listing
	Column Column `json:"column"`
	// Since is when the run changed last; zero if there is no run.
	Since time.Time `json:"since,omitzero"`
	// Transition counts the run's changes.
	Transition int `json:"transition,omitempty"`
	// Question is what the agent asks, Approve the commit that a person decides on.
	Question *workflow.Question `json:"question,omitempty"`
	Approve  string             `json:"approve,omitempty"`
	// Next is what can be done, the best first.
	Next []workflow.NextStep `json:"next,omitempty"`
}

// Read returns every card, by column. In columns that wait for a person the oldest come first, in the others the newest. broken says
// which requests can't be read.
func Read(ctx context.Context, p *app.App) (cards []Card, broken, err error) {
	lines, broken, err := p.List(ctx, false)
	for _, l := range lines {
		cards = append(cards, CardOf(l))
	}
	slices.SortStableFunc(cards, Compare)
	return cards, broken, err
}

// One returns the card of one request; ok is false if there is none.
func One(ctx context.Context, p *app.App, requestID string) (card Card, ok bool, err error) {
	cards, err := Some(ctx, p, requestID)
	if len(cards) == 0 {
		return Card{}, false, err
	}
	return cards[0], true, err
}

// Some returns the cards of some requests.
func Some(ctx context.Context, p *app.App, requestIDs ...string) (cards []Card, err error) {
	lines, err := p.Listed(ctx, requestIDs...)
	for _, l := range lines {
		cards = append(cards, CardOf(l))
	}
	return cards, err
}

// Compare orders cards as Read does.
func Compare(a, b Card) int {
	since := b.Since.Compare(a.Since)
	if a.Column == NeedsYou || a.Column == Ready {
		since = -since
	}
	return cmp.Or(slices.Index(Columns, a.Column)-slices.Index(Columns, b.Column), since, a.Number-b.Number)
}

// CardOf returns the card of a line of the list.
func CardOf(l app.Listing) Card {
	c := Card{Listing: l, Column: columnOf(&l)}
	if r := l.Run; r != nil {
		c.Since, c.Transition, c.Question = r.UpdatedAt, r.Details.Transition, r.Details.Question
		if r.AsksForApproval() {
			c.Approve = r.Details.Head
		}
		c.Next = app.NextSteps(r, l.Interrupted)
	}
	return c
}

func columnOf(l *app.Listing) Column {
	r := l.Run
	switch {
	case l.Problem != "":
		return NeedsYou
	case r == nil && l.Closed, r != nil && (r.State == workflow.Done || r.State == workflow.Canceled):
		return Done
	case r == nil:
		return Waiting
	case r.AsksForApproval():
		return Ready
	case r.Details.Question != nil || l.Interrupted || !r.UnderWay():
		return NeedsYou
	case r.State == workflow.Queued || r.Watches():
		return Waiting
	}
	return Working
}
