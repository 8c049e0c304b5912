package forge

import "context"

// Judged is implemented by a forge on which people judge a pull request.
type Judged interface {
	// Opinions returns what people who may write to the repository, and applications, think of the pull request's present head.
	Opinions(ctx context.Context, number int) (Opinions, error)
	// Reply answers in a thread of a pull request and resolves it. A reply with the same key is written once. A thread that is gone is no error.
	Reply(ctx context.Context, number int, thread, key, body string) error
}

// Opinions are what is thought of one head of a pull request.
type Opinions struct {
	// State is the pull request's. Of one that isn't open, nothing else is known.
	State PullRequestState
	// ApprovedBy are the people who approve exactly this head, sorted; empty if Unapproved.
	ApprovedBy []string
	// Unapproved: people have to act before it is merged. Fewer approve this head than the forge asks for, someone wants changes of it, or only
	// others may merge it.
	Unapproved bool
	Objections []Objection
}

// Objection is what someone finds wrong with a change. All texts are untrusted, cleaned and bounded.
type Objection struct {
	// ID differs from that of every other objection to the pull request. What is said later in the same thread is another objection.
	ID string
	// Thread is the discussion to answer in; empty if the objection is a review's text.
	Thread string
	By     string
	// Path and Line are as in Thread.
	Path string
	Line int
	Text string
}
