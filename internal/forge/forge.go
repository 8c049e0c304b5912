// Package forge owns the port to the place where issues, pull requests and checks live. It does not decide when something is opened, merged or
// closed.
package forge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Request is a change that someone asks for: an issue on a forge, or a file requests/*.md. ID is request_id in runs; Number is issue_number in
// environments.json and issue in the status files.
type Request struct {
	// ID is RQ-YYYYMMDD-NNN for a file.
	ID     string `json:"id"`
	Number int    `json:"number"`
	// Title is one line without control characters.
	Title string `json:"title"`
	// Body describes the change and its acceptance criteria. It is Markdown and untrusted.
	Body string `json:"body"`
	// Base is the branch to merge into; empty means the project's default.
	Base string `json:"base,omitempty"`
	// Tests are commands that judge its change beside the project's own, one line for sh each.
	Tests  []string `json:"tests,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// Language says which of a project's languages the request concerns: go, python, typescript or java.
	Language string `json:"language,omitempty"`
	// Area is the part of the project that it concerns, one line such as backend or frontend; empty if unknown.
	Area string `json:"area,omitempty"`
	// DependsOn are the ids or numbers of requests that must be merged first; of an issue, the numbers of issues.
	DependsOn []string `json:"depends_on,omitempty"`
	// Priority is P0 (the most urgent) to P4, Size is XS to XXL, as an issue's labels say; empty if they don't.
	Priority string `json:"priority,omitempty"`
	Size     string `json:"size,omitempty"`
	// Auto: "signalbox serve" begins its run.
	Auto bool `json:"-"`
	// Said, Attachments and Related are what Keeping.Keep adds: comments, oldest first, and what texts link to.
	Said        []Said       `json:"said,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Related     []Related    `json:"related,omitempty"`
	// Path is the file it was read from, relative to the project root; empty on other forges.
	Path string `json:"path,omitempty"`
	// Closed: no more work is needed.
	Closed bool `json:"closed"`
}

// PullRequest is a change offered for merging. It belongs to exactly one run, and survives it.
type PullRequest struct {
	Number int `json:"number"`
	// Key identifies the run that opened it. Opening it again with the same key finds the first one.
	Key     string `json:"key"`
	Request string `json:"request_id"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Branch  string `json:"branch"`
	Base    string `json:"base"`
	// Head is the full id of the branch's commit as last pushed.
	Head string `json:"head"`
	// Fork is the path of the server's repository that has the branch, if it isn't the one that has the base.
	Fork string `json:"fork,omitempty"`
	// Unpublished: the pull request and its merge stay on this machine, even if the process that merges it is configured to push.
	Unpublished bool `json:"unpublished,omitempty"`
	// Draft: it is opened as one that isn't ready, where the forge has drafts. One that is open already becomes ready without it, and is left as it is with it.
	Draft bool             `json:"-"`
	State PullRequestState `json:"state"`
	URL   string           `json:"url,omitempty"`
	// CompareURL is a page that shows the change; empty if there is none.
	CompareURL  string     `json:"compare_url,omitempty"`
	MergeCommit string     `json:"merge_commit,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	MergedAt    *time.Time `json:"merged_at"`
}

// PullRequestState is the life of a pull request. It only leaves Open, and never returns to it.
type PullRequestState string

const (
	// Open: offered, and neither merged nor closed. Merge or ClosePullRequest ends it.
	Open PullRequestState = "open"
	// Merged: its checked tree is on the base branch. This is final.
	Merged PullRequestState = "merged"
	// Closed: given up without a merge. This is final.
	Closed PullRequestState = "closed"
)

// Check is the verdict of one run of the tests on one merge candidate. A verdict is never changed; a later one is added.
type Check struct {
	Name string `json:"name"`
	// Base, Head and Tree are the full ids of the checked commits and of the merged tree. The verdict holds for nothing else.
	Base       string     `json:"base"`
	Head       string     `json:"head"`
	Tree       string     `json:"tree"`
	State      CheckState `json:"state"`
	Command    string     `json:"command,omitempty"`
	LogPath    string     `json:"log_path,omitempty"`
	Summary    string     `json:"summary,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	At         time.Time  `json:"at"`
	// Known are tests that failed before the change too, which a person accepted. State is passed despite them.
	Known []string `json:"known_failures,omitempty"`
	// Unsettled: the tests ran out of time or memory, or were interrupted. State says nothing about the content, and the check may be repeated.
	Unsettled bool `json:"unsettled,omitzero"`
	// Server names the server's checks that failed, cleaned, if that is why it failed; then there is no Command. It is not recorded.
	Server string `json:"-"`
	// Log reads the end of what their failed steps printed, cleaned; nil if nothing of the server failed. It costs calls.
	Log func(context.Context) string `json:"-"`
	// Rerunnable: what failed are jobs that Rerunner can run again.
	Rerunnable bool `json:"-"`
}

// CheckState is the result of a check. A missing check is not a passed one.
type CheckState string

const (
	// CheckPassed: every test passed, or failed only as listed in Check.Known. Merge accepts nothing else.
	CheckPassed CheckState = "passed"
	// CheckFailed: a test failed, or, if Check.Unsettled, the tests did not finish.
	CheckFailed CheckState = "failed"
)

// Forge is the port. Every method that creates something first looks for it by key, so it may be repeated after a crash.
type Forge interface {
	Name() string
	// Request returns the request with this id, number or (for files) path, or ErrNotFound.
	Request(ctx context.Context, ref string) (Request, error)
	// Requests returns all requests, sorted by number. Those of a server are the open ones, up to a limit.
	Requests(ctx context.Context) ([]Request, error)
	// OpenRequest opens a request, or returns the one opened with the same key before, even if that is closed now.
	OpenRequest(ctx context.Context, key, title, body string) (Request, error)
	// OpenPullRequest publishes the branch at pr.Head and opens the pull request with pr.Key, or updates the existing one.
	OpenPullRequest(ctx context.Context, pr PullRequest) (PullRequest, error)
	PullRequest(ctx context.Context, number int) (PullRequest, error)
	// Checks returns the verdict on the merge of the pull request's head with the present base. A forge that runs the checks itself runs them now,
	// and returns an unsettled verdict at ctx's deadline. A server's verdicts are only read: it returns *PendingError until all are there. It returns
	// ErrConflict if head and base do not merge, and ErrNoChecks if a server has reported nothing so far.
	Checks(ctx context.Context, number int) (Check, error)
	// Merge puts exactly checked.Tree on the base branch, as a merge commit of checked.Base and checked.Head with this message. It returns
	// ErrBaseMoved if the base has another commit now and the merge with that one was not checked; ErrConflict if they do not merge at all;
	// ErrHeadMoved if the branch has another commit than checked.Head; *PendingError if a server does not let it be merged yet. In each case nothing
	// was merged. Merging a merged pull request returns it; with ErrUntested, if a server merged something else than what was checked.
	Merge(ctx context.Context, number int, checked Check, message string) (PullRequest, error)
	// ClosePullRequest closes the pull request without merging it, or returns ErrMerged.
	ClosePullRequest(ctx context.Context, number int) error
	// Comment writes body as a comment on the request. A comment with the same key is edited in place.
	Comment(ctx context.Context, request Request, key, body string) error
	// CloseRequest marks the request as done by the merge commit.
	CloseRequest(ctx context.Context, request Request, mergeCommit string) error
}

// Finder is implemented by a forge that finds many requests for little more than the cost of one.
type Finder interface {
	Find(ctx context.Context, refs ...string) ([]Request, error)
}

// Find returns the requests that refs name, in that order. It returns the first error.
func Find(ctx context.Context, f Forge, refs ...string) ([]Request, error) {
	if finder, ok := f.(Finder); ok {
		return finder.Find(ctx, refs...)
	}
	var found []Request
	for _, ref := range refs {
		request, err := f.Request(ctx, ref)
		if err != nil {
			return nil, err
		}
		found = append(found, request)
	}
	return found, nil
}

// Branches is implemented by a forge that has CI results for branches.
type Branches interface {
	// BranchCheck returns the last verdict on the branch's present content, or ErrNoChecks. That is not a passed check.
	BranchCheck(ctx context.Context, branch string) (Check, error)
}

// Rerunner is implemented by a forge that can run failed jobs of its CI again.
type Rerunner interface {
	// Rerun runs the failed jobs of a pull request's head again, and returns the names of those that run, or ran, a second time; none if what failed
	// are no jobs of the forge's CI. It may be repeated: no job is started a third time.
	Rerun(ctx context.Context, number int, head string) (jobs []string, err error)
}

// Mergeable is implemented by a forge that can tell, before there is a change, whether any merge would be refused.
type Mergeable interface {
	// MayMerge changes nothing, except that it may complete an interrupted merge and bring the base branch up to date with a server's. It returns ErrNoBase if the branch does not exist; ErrRemoteMoved or ErrCheckout if a person must
	// act first; *UnfinishedError if a git command is unfinished where base is checked out; ErrRemote if the remote can't be reached or refuses
	// this user's push.
	MayMerge(ctx context.Context, base string) error
}

var (
	ErrNotFound = errors.New("not found")
	// ErrPull: the number is a pull request's. It is an ErrNotFound.
	ErrPull      = fmt.Errorf("%w: it is a pull request", ErrNotFound)
	ErrConflict  = errors.New("does not merge with the base branch")
	ErrBaseMoved = errors.New("the base branch moved")
	// ErrHeadMoved: the pull request's branch has another commit than the offered one.
	ErrHeadMoved = errors.New("the branch of the pull request moved")
	ErrNoChecks  = errors.New("no checks were reported")
	// ErrPending: a server's part is missing so far; errors.As finds the *PendingError.
	ErrPending = errors.New("waiting for the forge")
	// ErrMerged: the pull request was merged, so it can't be closed unmerged.
	ErrMerged = errors.New("it is merged")
	// ErrClosed: someone closed the pull request unmerged. A person decides whether it is reopened.
	ErrClosed = errors.New("it was closed unmerged")
	// ErrMergeGone: the server says that the pull request is merged, and the base branch lacks the merge: it was rewritten.
	ErrMergeGone = errors.New("the base branch lacks the merge")
	// ErrUntested: the pull request is merged, and what the server put on the base branch has not passed the tests. A person looks at it.
	ErrUntested = errors.New("the forge merged a tree that was not tested")
	// ErrRemoteMoved: the remote's base branch has commits that the project lacks. A person pulls them.
	ErrRemoteMoved = errors.New("the remote's base branch has commits that are missing here")
	// ErrNoBase: the branch to merge into does not exist.
	ErrNoBase = errors.New("there is no such branch to merge into")
	// ErrRemote: the remote can't be reached or refuses the push.
	ErrRemote = errors.New("no push is possible")
	// ErrRights: the server lets this account do too little. It is an ErrRemote that git knows nothing of.
	ErrRights = fmt.Errorf("%w with the rights of this account", ErrRemote)
	// ErrCheckout: the base branch is checked out, and its local changes block the merge.
	ErrCheckout = errors.New("local changes are in the way of the merge")
)

// PendingError is ErrPending with what is missing.
type PendingError struct {
	// Kind is what it is; empty if the server only has to show what was done.
	Kind AwaitedKind
	// For names what is missing, such as the checks that are not reported yet. The names are cleaned.
	For []string
	// LookAgain is when to ask again, if nothing says so before.
	LookAgain time.Time
}

func (e *PendingError) Error() string {
	if len(e.For) == 0 {
		return ErrPending.Error()
	}
	return ErrPending.Error() + ": " + strings.Join(e.For, ", ")
}

func (e *PendingError) Is(target error) bool { return target == ErrPending }

// UnfinishedError: a git command is unfinished where the base branch is checked out. A person completes or aborts it.
type UnfinishedError struct {
	// Command is git's name of it: merge, rebase, am, cherry-pick, revert or commit.
	Command string
	// Lock is the file that a commit, or another command that writes the index, holds.
	Lock string
	Err  error
}

func (e *UnfinishedError) Error() string { return e.Err.Error() }

func (e *UnfinishedError) Unwrap() error { return e.Err }
