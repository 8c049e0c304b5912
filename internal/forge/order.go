package forge

import (
	"context"
	"time"
)

// Order is what a person asks of Signalbox on the forge: by a comment whose first line begins with /signalbox, or by the label.
type Order struct {
	// ID is unique among the orders of a project, and the same whenever the order is read.
	ID   string
	Verb Verb
	// Commit is what an approval names; empty if it means what was shown.
	Commit string
	// Text is a rejection's reason or an answer.
	Text string
	// Problem says why it is no order that can be given; empty if it can.
	Problem string
	// On is the issue or pull request it was written on. Remark is the comment; its ID is 0 for the label.
	On     Subject
	Remark Remark
	// Seen is the text when the comment was written, as far as a webhook said.
	Seen TextSum
	// By is the account that gave it, At when, by the forge's clock.
	By string
	At time.Time
}

// Verb is a word that follows /signalbox.
type Verb string

// The verbs, with what follows them.
const (
	VerbRun     Verb = "run"
	VerbStop    Verb = "stop"
	VerbApprove Verb = "approve" // a commit, or nothing
	VerbReject  Verb = "reject"  // why
	VerbAnswer  Verb = "answer"  // the answer
	VerbRetry   Verb = "retry"
	VerbResume  Verb = "resume"
	VerbStatus  Verb = "status"
)

// Verbs lists every Verb.
var Verbs = []Verb{VerbRun, VerbStop, VerbApprove, VerbReject, VerbAnswer, VerbRetry, VerbResume, VerbStatus}

// Labeling is one time that an account gave an issue a label.
type Labeling struct {
	ID    int64
	Label string
	By    string
	// ByBot: an application did it, or a workflow.
	ByBot bool
	At    time.Time
}

// LastEdit is when an issue's title and body were changed last.
type LastEdit struct {
	// At is the zero time if they never were.
	At time.Time
	// Exact: they were changed at that time. Otherwise something was, perhaps they.
	Exact bool
}

// After reports whether the text may have been changed after an order at a time. Forges count in seconds: an edit in the same one may be later.
func (e LastEdit) After(order time.Time) bool {
	return e.At.After(order) || e.Exact && e.At.Equal(order)
}

// EditedError: an issue's text was changed, or may have been, after an order to work on it.
type EditedError struct{ LastEdit }

func (e *EditedError) Error() string {
	at := e.At.UTC().Format("2006-01-02 15:04:05 UTC")
	if e.Exact {
		return "the issue was edited at " + at + ", after this order"
	}
	return "something on the issue changed at " + at + ", after this order, and the forge doesn't tell whether it was the text"
}

// Change is an issue or a pull request that changed: its text, a comment, a label, a review.
type Change struct {
	On Subject
	// Labels are the names of the labels that it has now.
	Labels    []string
	Closed    bool
	UpdatedAt time.Time
}

// Capabilities by which orders are found.
type (
	// Labeled tells who set the labels that an issue has or had, oldest first.
	Labeled interface {
		Labelings(ctx context.Context, number int) ([]Labeling, error)
	}
	// Dated tells when an issue's text was edited last. Of an issue without it, it's when anything changed there.
	Dated interface {
		LastEdit(ctx context.Context, number int) (LastEdit, error)
	}
	// Changing lists what changed at since or later, the longest ago first. If that is too much, it returns the first part.
	Changing interface {
		Changes(ctx context.Context, since time.Time) ([]Change, error)
	}
)
