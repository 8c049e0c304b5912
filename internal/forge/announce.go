package forge

import "context"

// Announcement is what people are told where the request is, of one run as it stands. Texts are Markdown without secrets.
type Announcement struct {
	// Run is the run's id.
	Run string
	// Progress is the one comment that is edited in place. Data is its part for programs, a JSON object.
	Progress string
	Data     string
	// Call asks for a person; nil while none is needed.
	Call *PersonCall
	// Answered is the title of earlier calls, which ask for no one any more, where they can't be hidden but only folded away.
	Answered string
	// Label is the state as a label; empty for none.
	Label StateLabel
	// Pull is the number of the pull request, 0 if there is none. Verdicts are ours on Head, which count once Head is pushed.
	Pull     int
	Head     string
	Verdicts []Verdict
}

// ProgressComment is the key of the one comment on a request that shows the progress of its run.
const ProgressComment = "signalbox/progress"

// PersonCall is a comment of its own, because an edited one notifies no one. There is one for each Key.
type PersonCall struct {
	Key, Body string
}

// StateLabel is a label that says on an issue how its run stands. An issue has one of them at most.
type StateLabel string

const (
	LabelRunning    StateLabel = "signalbox:running"
	LabelNeedsInput StateLabel = "signalbox:needs-input"
	LabelDone       StateLabel = "signalbox:done"
	LabelFailed     StateLabel = "signalbox:failed"
)

// StateLabels lists every StateLabel.
var StateLabels = []StateLabel{LabelRunning, LabelNeedsInput, LabelDone, LabelFailed}

// The names of our own verdicts.
const (
	VerdictTests    = "signalbox/tests"
	VerdictReview   = "signalbox/review"
	VerdictApproval = "signalbox/approval"
)

// OwnVerdicts lists them. No run waits for what it says itself.
var OwnVerdicts = []string{VerdictTests, VerdictReview, VerdictApproval}

// Announcer is implemented by a forge that tells people more than a comment holds.
type Announcer interface {
	// Announce writes what changed since the last announcement. It does as much as it can, and may be repeated.
	Announce(ctx context.Context, request Request, a Announcement) error
}
