package forge

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Server is what the driver of a forge on a server provides. Package hosted makes a Forge of it: git pushes and tests, and
// markers in texts are the keys, so no method here has to know whether it was called before. A method is a few calls of the
// vendor's API. Its errors begin with what was tried, such as "read issue 42". One that Failure describes is one; every other is about what the
// server answered.
//
// All texts are what the vendor sent: untrusted, and not yet cleaned.
type Server interface {
	// Kind is the driver's name in the configuration: github, gitlab or gitea.
	Kind() string
	// Whoami returns the account of the credentials. It is the cheapest call that needs them.
	Whoami(ctx context.Context) (Account, error)
	// Repository returns what the account may do in the repository, and how it merges.
	Repository(ctx context.Context) (Repository, error)

	// Issue returns an issue, or ErrNotFound: there is none, it is a pull request (ErrPull), or it moved to another repository.
	Issue(ctx context.Context, number int) (Issue, error)
	// Issues returns the issues that match, newest first, at most limit. No pull request is among them.
	Issues(ctx context.Context, q Query, limit int) ([]Issue, error)
	// CreateIssue opens an issue. It may have been opened even if an error is returned.
	CreateIssue(ctx context.Context, title, body string) (Issue, error)
	// CloseIssue closes an issue; closing it again changes nothing.
	CloseIssue(ctx context.Context, number int) error

	// Remarks returns the comments on an issue or a pull request, oldest first.
	Remarks(ctx context.Context, on Subject) ([]Remark, error)
	CreateRemark(ctx context.Context, on Subject, body string) (Remark, error)
	// EditRemark returns ErrNotFound if the comment was deleted.
	EditRemark(ctx context.Context, on Subject, id int64, body string) error

	// Proposal returns a pull request, or ErrNotFound.
	Proposal(ctx context.Context, number int) (Proposal, error)
	// ProposalOf returns the newest pull request from branch of a fork, or of this repository if fork is empty, whatever became of it, or
	// ErrNotFound. Anyone may have a branch of this name in another fork.
	ProposalOf(ctx context.Context, fork, branch string) (Proposal, error)
	// Propose opens a pull request, as a draft if p is one and the forge has drafts. It returns ErrExists if one is open for the same branches.
	Propose(ctx context.Context, p Proposal) (Proposal, error)
	// EditProposal changes title, body and draft.
	EditProposal(ctx context.Context, p Proposal) error
	// CloseProposal closes a pull request without a merge; closing it again changes nothing.
	CloseProposal(ctx context.Context, number int) error
	// MergeProposal merges head, and nothing else, as the repository's rules say. It returns ErrHeadMoved if the pull request
	// has another head; ErrNotReady if the forge does not let it be merged yet; ErrConflict. One that is merged already is no error.
	MergeProposal(ctx context.Context, number int, head, message string) error

	// Verdicts returns what was reported about exactly this commit, the newest of each name: commit statuses, check runs, CI jobs.
	Verdicts(ctx context.Context, commit string) ([]Verdict, error)
	// Required returns the names of the verdicts without which the forge merges nothing into branch.
	Required(ctx context.Context, branch string) (Requirements, error)
}

// Account is who the credentials belong to. Name is unique on the server.
type Account struct {
	Name string
	// Bot: it is an application and not a person.
	Bot bool
}

// Repository is the project on the server.
type Repository struct {
	// Path is owner/name, with every group above it on GitLab.
	Path string
	// Page is its address for people, without a slash at the end.
	Page          string
	DefaultBranch string
	// Parent is the path of the repository that this one is a fork of; empty if it is none.
	Parent string
	// MayPush: the account may push branches. MayMerge: it may merge pull requests.
	MayPush, MayMerge bool
	// Methods are the ways to merge that the repository allows, the preferred first: merge, squash, rebase.
	Methods []string
	// SeesPushes: the server marks a pull request as merged, within seconds, when its commits are pushed to its base.
	SeesPushes bool
}

// Issue is an issue as the server has it.
type Issue struct {
	Number      int
	Title, Body string
	Author      string
	Labels      []string
	Closed      bool
	Page        string
	UpdatedAt   time.Time
}

// Query selects issues. Empty fields select all.
type Query struct {
	Labels              []string
	Milestone, Assignee string
	// Author is an account's name. Text is searched for in titles and bodies, in the vendor's syntax.
	Author, Text string
	// State is open, closed or all; empty means open.
	State string
}

// Subject is what comments and labels are on. GitHub and Gitea number issues and pull requests together; on GitLab issue 5 and merge request 5 are
// two things, and so a number alone names neither.
type Subject struct {
	Number int
	// Pull: it is a pull request, and not an issue.
	Pull bool
}

// OnIssue is the issue with this number.
func OnIssue(number int) Subject { return Subject{Number: number} }

// OnPull is the pull request with this number.
func OnPull(number int) Subject { return Subject{Number: number, Pull: true} }

// String is for messages.
func (s Subject) String() string {
	if s.Pull {
		return fmt.Sprintf("pull request %d", s.Number)
	}
	return fmt.Sprintf("issue %d", s.Number)
}

// Remark is a comment of a person or a program.
type Remark struct {
	// ID is unique among the comments on On, not in the repository.
	ID     int64
	On     Subject
	Author string
	// ByBot: the author is an application.
	ByBot bool
	Body  string
	Page  string
	// Edited: it was changed after it was written.
	Edited bool
	// ChangedAt is no earlier than the last change of its body.
	CreatedAt, ChangedAt time.Time
	// Member: the server says, without being asked for rights, that the author belongs to the repository. Not all who do may write.
	Member bool
}

// Proposal is a pull request (GitLab: a merge request) as the server has it.
type Proposal struct {
	Number      int
	Title, Body string
	// Branch is the one that is offered, Base the one to merge into; Head is the full id of Branch's commit as the server knows it.
	Branch, Base, Head string
	// Fork is the path of the repository that has Branch; empty if it is the one that has Base, and ForkGone if it was deleted.
	Fork  string
	Draft bool
	State PullRequestState
	// MergeCommit is the commit on Base that the merge made; empty before.
	MergeCommit string
	MergedAt    *time.Time
	Page        string
}

// ForkGone stands for the path of a fork that was deleted. It is no path.
const ForkGone = "(deleted)"

// Verdict is what a CI or an application says about a commit.
type Verdict struct {
	// Name is unique among the verdicts on a commit.
	Name  string
	State VerdictState
	// Summary is one line, Page shows more. Both may be empty.
	Summary, Page string
	At            time.Time
}

// VerdictState is how far a verdict is.
type VerdictState string

const (
	// Pending: it is waited for, or runs.
	Pending VerdictState = "pending"
	// Passed includes what was skipped or is neutral.
	Passed VerdictState = "passed"
	// Failed includes what was canceled, timed out, or wants someone to act.
	Failed VerdictState = "failed"
)

// Requirements are what the forge's protection of a branch asks for.
type Requirements struct {
	// Verdicts are the names that must have passed on the head; * matches any text in a name. If there are none, what is reported must have passed.
	Verdicts []string
	// Approvals is how many people must approve.
	Approvals int
	// PushRefused: nobody like this account may push to the branch, so that a merge goes through a pull request.
	PushRefused bool
	// Queue: merges go through the forge's own queue or train.
	Queue bool
	// Unknown: the account may not read the protection. The fields above are not known then. Without a protection they are known to be empty.
	Unknown bool
}

// Failure is what a server refused, by what can be done about it.
type Failure struct {
	Kind FailureKind
	// Status is HTTP's; 0 if there was no answer.
	Status int
	// RetryAfter is how long the server asked to wait; 0 if it didn't say.
	RetryAfter time.Duration
	// Message is the server's own text, one line, untrusted.
	Message string
	// Moved is the page of the repository if the server says that it has another name or owner now; otherwise empty. It is a page of this server.
	Moved string
	Err   error
}

// FailureKind says what can be done about a failure.
type FailureKind string

const (
	// Unauthorized: the credentials are missing, wrong or expired. A person renews them.
	Unauthorized FailureKind = "unauthorized"
	// Forbidden: the account may not do this. A person gives it the right.
	Forbidden FailureKind = "forbidden"
	// Limited: too many calls. It is repeated after RetryAfter.
	Limited FailureKind = "limited"
	// Unavailable: the server failed, or could not be reached, or what it answered is no answer of the API. It is repeated.
	Unavailable FailureKind = "unavailable"
	// Refused: the server understood, and says no. Repeating it changes nothing.
	Refused FailureKind = "refused"
)

func (f *Failure) Error() string {
	switch {
	case f.Message != "":
		return fmt.Sprintf("the server says %q (%d)", f.Message, f.Status)
	case f.Err != nil:
		return f.Err.Error()
	}
	return fmt.Sprintf("the server answers %d", f.Status)
}

func (f *Failure) Unwrap() error { return f.Err }

var (
	// ErrExists: what was to be made is there already.
	ErrExists = errors.New("it exists already")
	// ErrNotReady: the forge does not let the change be merged yet: something required is missing, or is being computed.
	ErrNotReady = errors.New("not ready to be merged")
)

// One-method capabilities of servers. What a driver lacks, hosted does without, and doctor says so.
type (
	// Publisher writes verdicts: commit statuses, or check runs where the account may.
	Publisher interface {
		Publish(ctx context.Context, commit string, v Verdict) error
	}
	// Labeler makes labels a pull request or issue has: those in add are there afterwards, those in remove are not.
	Labeler interface {
		Label(ctx context.Context, on Subject, add, remove []string) error
	}
	// Minimizer hides a comment that is settled.
	Minimizer interface {
		Minimize(ctx context.Context, remark Remark) error
	}
	// Acknowledger puts 👀 on a comment.
	Acknowledger interface {
		Acknowledge(ctx context.Context, remark Remark) error
	}
	// Reviewed lists what people said of a pull request, and answers it.
	Reviewed interface {
		// Reviews returns the latest review of each person.
		Reviews(ctx context.Context, number int) ([]Review, error)
	}
	// Threaded lists the discussions of lines in a pull request.
	Threaded interface {
		Threads(ctx context.Context, number int) ([]Thread, error)
	}
	// Answering answers in a discussion, and resolves it.
	Answering interface {
		Answer(ctx context.Context, number int, thread Thread, body string, resolve bool) error
	}
	// Queue puts a pull request into the forge's own merge queue or train, once, and tells whether it is there.
	Queue interface {
		Queued(ctx context.Context, number int) (bool, error)
		Enqueue(ctx context.Context, number int, head string) error
	}
	// Recorder marks a pull request as merged by a commit that was pushed to its base. A server may refuse that.
	Recorder interface {
		RecordMerge(ctx context.Context, number int, commit string) error
	}
	// Logged returns what the failed steps of a failed job printed last, at most limit bytes of each. It returns ErrNotFound for a verdict of
	// another CI, and for a log that is gone.
	Logged interface {
		Log(ctx context.Context, v Verdict, limit int) ([]StepLog, error)
	}
	// Forked finds forks of the repository. Name is owner/name; empty means the account's own fork, whatever its name. It returns ErrNotFound if there is
	// none, and it is an error if the named repository is no fork of this one.
	Forked interface {
		Fork(ctx context.Context, name string) (Repository, error)
	}
	// Forker makes the account's own fork, or finds the one that it has. One that the server still fills is a Failure that passes.
	Forker interface {
		MakeFork(ctx context.Context) (Repository, error)
	}
	// CI knows the runs of the server's own CI, and has what failed in them run again.
	CI interface {
		// CIRuns returns the runs in which something failed, of those that the verdicts on exactly this commit are from. Verdicts of other applications
		// are from none.
		CIRuns(ctx context.Context, commit string, verdicts []Verdict) ([]CIRun, error)
		// Rerun starts what failed in a run again. It may have been started even if an error is returned.
		Rerun(ctx context.Context, run CIRun) error
	}
	// Reviewable asks people and teams to review a pull request. Those who were asked already stay asked. A team is named as the vendor names it.
	Reviewable interface {
		RequestReviewers(ctx context.Context, number int, people, teams []string) error
	}
	// Permitted reports whether an account may write to the repository, as it is now.
	Permitted interface {
		MayWrite(ctx context.Context, account string) (bool, error)
	}
)

// CIRun is what a server can run again at once: a run of a workflow, or a job of a pipeline.
type CIRun struct {
	ID int64
	// Failed are the names of the jobs that failed at the first attempt and that verdicts are about, whatever became of them later.
	Failed []string
	// Attempts is how often they were started.
	Attempts int
	// Busy: it has not ended, so nothing of it can be run again now, and what failed may not be all.
	Busy bool
}

// StepLog is the end of what one step of a job printed. Step is the server's name of it; empty if it tells of none.
type StepLog struct{ Step, Text string }

// Review is a person's judgement of a commit.
type Review struct {
	Author string
	// Commit is the full id that was judged. An approval of another commit is none.
	Commit string
	State  ReviewState
	Body   string
	Page   string
	At     time.Time
	// Member is as in Remark.
	Member bool
}

// ReviewState is what a review says.
type ReviewState string

const (
	// Approved: it may be merged as it is.
	Approved ReviewState = "approved"
	// ChangesWanted: it may not be merged as it is.
	ChangesWanted ReviewState = "changes_wanted"
	// Commented: neither.
	Commented ReviewState = "commented"
)

// Thread is a discussion of lines in a pull request.
type Thread struct {
	// ID is the server's name of it.
	ID   string
	Path string
	// Line is counted from 1 in the new file; 0 if the line is gone or the thread is about the file.
	Line     int
	Resolved bool
	Remarks  []Remark
}
