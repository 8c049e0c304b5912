package forge

import (
	"context"
	"time"
)

// Judged is implemented by a forge on which people judge a pull request.
type Judged interface {
	// Opinions returns what people who may write to the repository, and applications, think of the pull request's present head.
	Opinions(ctx context.Context, number int) (Opinions, error)
	// Reply answers in a thread of a pull request and resolves it. A reply with the same key is written once. A thread that is gone is no error.
	Reply(ctx context.Context, number int, thread, key, body string) error
	// Reported returns a failed check if one of the forge's own failed on the pull request's head, and otherwise a passed one: what is still missing
	// is no failure. It tests nothing.
	Reported(ctx context.Context, number int) (Check, error)
	// Describe makes body the text of an open pull request, in place of the one that was offered or described before. It writes nothing if that is so.
	Describe(ctx context.Context, number int, body string) error
}

// Opinions are what is thought of one head of a pull request.
type Opinions struct {
	// State is the pull request's. Of one that isn't open, nothing else is known.
	State PullRequestState
	// ApprovedBy are the people who approve exactly this head, sorted; empty if the forge requires what Awaits has.
	ApprovedBy []string
	// Awaits is what people have to do before it is merged; nil if there is nothing.
	Awaits     *Awaited
	Objections []Objection
	// LookAgain is when to look again if nothing wakes the run before: a webhook would. Zero is whenever the run looks.
	LookAgain time.Time
}

// Awaited is what is missing before a pull request is merged. The kinds are those of a run's document, and names are cleaned.
type Awaited struct {
	Kind AwaitedKind
	// Of are those who were asked, who want changes, or what is missing; it may be empty.
	Of []string
	// Missing is how many approvals are missing.
	Missing int
	// Required: the forge asks for it. Otherwise an approval is only what the configuration may want.
	Required bool
}

// AwaitedKind is what ends a wait.
type AwaitedKind string

const (
	AwaitedApproval AwaitedKind = "approval" // of exactly this head
	AwaitedReview   AwaitedKind = "review"   // by those who want changes of it
	AwaitedMerge    AwaitedKind = "merge"    // by others, who may
	AwaitedQueue    AwaitedKind = "queue"    // of the forge
	AwaitedChecks   AwaitedKind = "checks"   // by the forge's CI and applications
)

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
