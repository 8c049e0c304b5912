// Package forge owns the port to where requests, pull requests and checks
// live. It refuses to decide when something is opened, merged or closed.
package forge

import (
	"context"
	"errors"
	"time"
)

// Request is what somebody wants changed: an issue on a forge, or a file
// requests/*.md. ID is request_id in runs, Number is issue_number in
// environments.json and issue in the status files.
type Request struct {
	// ID is RQ-YYYYMMDD-NNN for files.
	ID     string `json:"id"`
	Number int    `json:"number"`
	// Title is one line, cleaned of control characters.
	Title string `json:"title"`
	// Body is what is wanted, with acceptance criteria: Markdown, untrusted.
	Body string `json:"body"`
	// Base is the branch to merge into; empty means the project's default.
	Base string `json:"base,omitempty"`
	// Tests are commands, one line each for sh, that replace the project's own.
	Tests  []string `json:"tests,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// Language is what the request is about where a project has several: go, python, typescript, java.
	Language string `json:"language,omitempty"`
	// Area is the part of the project that it is about, one line: backend, frontend, …; empty if it does not say.
	Area string `json:"area,omitempty"`
	// DependsOn are the ids or numbers of requests that must be merged first.
	DependsOn []string `json:"depends_on,omitempty"`
	// Path is the file it was read from, relative to the project root; empty on other forges.
	Path string `json:"path,omitempty"`
	// Closed: the request needs no more work.
	Closed bool `json:"closed"`
}

// PullRequest is a change offered for merging.
type PullRequest struct {
	Number int `json:"number"`
	// Key identifies the run that opened it, so that opening twice finds the first.
	Key     string `json:"key"`
	Request string `json:"request_id"`
	Title   string `json:"title"`
	Body    string `json:"body"`
	Branch  string `json:"branch"`
	Base    string `json:"base"`
	// Head is the full id of the branch's commit as last pushed.
	Head string `json:"head"`
	// Unpublished: it stays on this machine, with its merge, whatever the process that merges it is configured to push.
	Unpublished bool             `json:"unpublished,omitempty"`
	State       PullRequestState `json:"state"`
	URL         string           `json:"url,omitempty"`
	// CompareURL shows the change against its base; empty where there is none.
	CompareURL  string     `json:"compare_url,omitempty"`
	MergeCommit string     `json:"merge_commit,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	MergedAt    *time.Time `json:"merged_at"`
}

// PullRequestState is open, merged or closed.
type PullRequestState string

const (
	Open   PullRequestState = "open"
	Merged PullRequestState = "merged"
	Closed PullRequestState = "closed"
)

// Check is one verdict on one merge candidate.
type Check struct {
	Name string `json:"name"`
	// Base, Head and Tree are the full ids of what was checked; a verdict holds for nothing else.
	Base       string     `json:"base"`
	Head       string     `json:"head"`
	Tree       string     `json:"tree"`
	State      CheckState `json:"state"`
	Command    string     `json:"command,omitempty"`
	LogPath    string     `json:"log_path,omitempty"`
	Summary    string     `json:"summary,omitempty"`
	DurationMS int64      `json:"duration_ms"`
	At         time.Time  `json:"at"`
	// Known are tests that fail as they did before the change, which a person agreed to; State is passed.
	Known []string `json:"known_failures,omitempty"`
	// Unsettled: the tests ran out of time or memory, or were cut off, so that State says nothing of the content.
	Unsettled bool `json:"unsettled,omitzero"`
}

// CheckState is what a check came to. No check is not a passed one.
type CheckState string

const (
	CheckPassed CheckState = "passed"
	CheckFailed CheckState = "failed"
)

// Forge is the port. Every method that creates looks first, by key, for what it
// would create: it may be called again after a crash.
type Forge interface {
	Name() string
	// Request finds one by id, number or (for files) path. ErrNotFound if there is none.
	Request(ctx context.Context, ref string) (Request, error)
	// Requests lists all, by number.
	Requests(ctx context.Context) ([]Request, error)
	// OpenRequest opens one, or returns the one that was opened with the same key, also when it is
	// closed by now.
	OpenRequest(ctx context.Context, key, title, body string) (Request, error)
	// OpenPullRequest publishes the branch at pr.Head and opens the pull request with pr.Key, or
	// brings the existing one up to date.
	OpenPullRequest(ctx context.Context, pr PullRequest) (PullRequest, error)
	PullRequest(ctx context.Context, number int) (PullRequest, error)
	// Checks waits for the verdict on the candidate of the pull request's head and the present
	// base, and returns it. ErrConflict: the two do not merge. ErrNoChecks: nothing was reported
	// before ctx's deadline. A forge that runs the checks itself returns an unsettled one then.
	Checks(ctx context.Context, number int) (Check, error)
	// Merge puts exactly checked.Tree on the base branch as a merge commit of checked.Base and
	// checked.Head, with message. ErrBaseMoved: the base has another commit by now and the
	// result of merging with that one was not checked; ErrConflict: they do not merge at all. ErrHeadMoved: the branch has another commit than
	// checked.Head, and nothing was merged. Merging what is merged returns it.
	Merge(ctx context.Context, number int, checked Check, message string) (PullRequest, error)
	// ClosePullRequest closes it unmerged.
	ClosePullRequest(ctx context.Context, number int) error
	// Comment writes body on the request, or edits the comment with the same key in place.
	Comment(ctx context.Context, request Request, key, body string) error
	// CloseRequest marks the request as done, naming the merge commit.
	CloseRequest(ctx context.Context, request Request, mergeCommit string) error
}

// Finder is a forge that finds many requests for little more than one costs.
type Finder interface {
	Find(ctx context.Context, refs ...string) ([]Request, error)
}

// Find finds requests as Request does, in the order of refs. The first that cannot be found is the error.
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

// Branches is a forge that knows what CI said of a branch.
type Branches interface {
	// BranchCheck is the last verdict on the branch's present content. ErrNoChecks if there is none,
	// which is not a passed one.
	BranchCheck(ctx context.Context, branch string) (Check, error)
}

// Mergeable is a forge that can tell before there is a change what would keep it from merging any.
type Mergeable interface {
	// MayMerge changes nothing. ErrNoBase: there is no such branch. ErrRemoteMoved, ErrCheckout: a person brings that in order.
	// *UnfinishedError: something is half done where base is checked out.
	// ErrRemote: the place that the merge is published at cannot be reached, or takes nothing from this user.
	MayMerge(ctx context.Context, base string) error
}

var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("does not merge with the base branch")
	ErrBaseMoved = errors.New("the base branch moved")
	// ErrHeadMoved: the pull request's branch has another commit than the one that was offered.
	ErrHeadMoved = errors.New("the branch of the pull request moved")
	ErrNoChecks  = errors.New("no checks were reported")
	// ErrRemoteMoved: the remote's base branch has commits that the project lacks.
	ErrRemoteMoved = errors.New("the remote's base branch has commits that are missing here")
	// ErrNoBase: there is no branch of that name to merge into.
	ErrNoBase = errors.New("there is no such branch to merge into")
	// ErrRemote: the remote cannot be reached or takes no push.
	ErrRemote = errors.New("no push is possible")
	// ErrCheckout: the base branch is checked out and local changes stand in the way.
	ErrCheckout = errors.New("local changes are in the way of the merge")
)

// UnfinishedError: a person is in the middle of a git command where the base branch is checked out.
type UnfinishedError struct {
	// Command is git's word for what is half done: merge, rebase, am, cherry-pick or revert.
	Command string
	Err     error
}

func (e *UnfinishedError) Error() string { return e.Err.Error() }

func (e *UnfinishedError) Unwrap() error { return e.Err }
