package workflow

import (
	"time"

	"signalbox/internal/workflow/budget"
	"signalbox/internal/workflow/policy"
)

// Event is a fact that the state machine takes into account: an order from a person or the queue, something that the engine noticed, or the outcome
// of an Action. It says what happened, never what to do about it. The line of events.jsonl names it; see NameOf.
type Event interface {
	// Answers returns the outcome of the action that the event answers; nil for an event that answers none.
	Answers() *Outcome
}

// Outcome is embedded in every event that answers an Action. If its Key is not the first pending one, the event is
// ignored: the action was answered before, or never ordered.
type Outcome struct {
	Key string `json:"key"`
	// Call is what a call of an agent used and left, beside its answer; nil for other actions.
	Call *Call `json:"call,omitempty"`
	// Presence is what the engine knows about the environment after the action; nil leaves what it knew before.
	Presence *Presence `json:"-"`
}

func (o Outcome) Answers() *Outcome { return &o }

// order is embedded in every event that answers no action.
type order struct{}

func (order) Answers() *Outcome { return nil }

// Orders from people and from the queue.
type (
	// Admitted: the run holds its request's lock and a slot of the queue. It starts, or continues.
	Admitted struct {
		order
		Request, Queue Lock
		// Epoch is the fencing token of the request's lock; it grows with each runner.
		Epoch int64
		// Isolation is what keeps commands apart from the host from now on; empty means as before.
		Isolation string
		// Prepare: the run goes no further than its environment, for a session.
		Prepare bool
		// Budget is what the run's agents may use from now on; nil means as before. A changed configuration counts at once, because the budget
		// is no part of the run's goal.
		Budget *budget.Amount
		// Base is the full id of the base branch's present commit; empty if it was not looked up. See Details.FromBase.
		Base string
		// Settings are those of the present configuration. They count only for a run that continues FromBase, or whose change was approved: its
		// tests are taken from there. FromBase, roles without an agent are left out, and the setup is taken where its tests could not run.
		// Nil leaves the run's own.
		Settings *Settings
	}
	// Named: a person named Program to implement the request from now on. It is saved before the run waits for anything, so a crash in the queue
	// does not lose it.
	Named struct {
		order
		Program string
	}
	// Waiting: there is no free slot, or another run must end first. For says which, for people. A runner holds Request.
	Waiting struct {
		order
		For     string
		Request Lock
	}
	// StopRequested: a person stops the run or, with Cancel, gives it up.
	StopRequested struct {
		order
		Cancel bool
	}
	// Interrupted: the run's process was told to end, but by no one who wants the run to stop: the machine shuts down, or the terminal was
	// closed. The next runner continues it.
	Interrupted struct{ order }
	// Prepared: the run was only wanted for its environment, which is there now.
	Prepared struct{ order }
	// Resumed: a person says that what stopped the run is settled. Its budgets start again.
	Resumed struct {
		order
		// Force: work that is too large to keep may be lost, or the run continues although its tests cannot run, if that is what stopped it.
		Force bool
	}
	// Retried: a person wants a failed run to be tried again. Its budgets start again.
	Retried struct{ order }
	// Approved: a person agrees to Commit. If the change has another head by now, nothing happens.
	Approved struct {
		order
		Commit, By string
	}
	// Rejected: a person sends the change back; Reason tells the implementer why.
	Rejected struct {
		order
		Reason, By string
	}
	// SyncOrdered: a person wants the base branch, as it is now, merged into the change.
	SyncOrdered struct{ order }
	// Woken: something happened on the forge that may concern the run. It is a reason to look, and no more is known of it.
	Woken struct{ order }
	// Answered: a person, or the deadline, answers the question that Answer names. Command is the ID of the Command that said so; empty if none
	// did.
	Answered struct {
		order
		Command string
		Answer  Answer
	}
)

// What the engine and sessions notice.
type (
	// AgentReported: what the call of the pending action Key has used and left so far. After a crash, the call is booked from it.
	AgentReported struct {
		order
		Key  string
		Call Call
	}
	// Asked: the agent of the pending action Question.Key asks, and waits. Only the agent's own words in Question are read.
	Asked struct {
		order
		Question Question
	}
	// Withdrawn: the agent no longer waits for an answer to Question, an ID.
	Withdrawn struct {
		order
		Question string
	}
	// SessionBegan: a session works in the run's environment while no runner does. It counts as one call. Epoch and Budget are as in Admitted.
	SessionBegan struct {
		order
		Epoch  int64
		Budget *budget.Amount
		// Grant: a person grants the run's budgets again.
		Grant bool
	}
	// SessionUsed: the session used this much since its last report.
	SessionUsed struct {
		order
		Usage Usage
	}
	// SessionBaseSet: the environment is about to be brought to Commit, for a session. See Details.SessionBase.
	SessionBaseSet struct {
		order
		Commit string
	}
	// WorkFound: when the run continued in its environment, unrecorded work was there. It is saved on Ref.
	WorkFound struct {
		order
		Ref string
	}
	// BranchMoved: the run's branch is at Commit, and Signalbox did not put it there; an empty Commit means that the branch was deleted.
	BranchMoved struct {
		order
		Commit string
		// OnTop: Commit continues Head.
		OnTop bool
		// Commits is how many commits Head lacks, By their authors, KeptRef the ref that holds them.
		Commits int
		By      []string
		KeptRef string
		// Whole is the change as it would be with them; Whole, Concerns and Tests are as in ChangeRecorded.
		Whole    []policy.FileChange
		Concerns []policy.Concern
		Tests    []policy.TestFile
	}
)

// Outcomes of actions.
type (
	// DependenciesChecked: the requests that this one depends on were looked up; Missing are not merged yet.
	DependenciesChecked struct {
		Outcome
		Missing []string
	}
	// BranchCreated: the branch begins at BaseCommit, a full id.
	BranchCreated struct {
		Outcome
		BaseCommit string
	}
	// EnvironmentDetected: the project's files were read.
	EnvironmentDetected struct {
		Outcome
		Detection Detection
	}
	// EnvironmentCreated: the environment EnvID is in Path. Its setup has not begun.
	EnvironmentCreated struct {
		Outcome
		EnvID, Path, Isolation, Fingerprint string
	}
	// DesignFound: the documents that the planner will be shown, relative to the project root.
	DesignFound struct {
		Outcome
		Files []string
	}
	// PlanAnswered: the planner's answer kept its contract.
	PlanAnswered struct {
		Outcome
		Plan    Plan
		LogPath string
	}
	// PlanWritten: planning.json is on disk.
	PlanWritten struct {
		Outcome
		Path string
	}
	// ReviewAnswered: the reviewer's answer kept its contract.
	ReviewAnswered struct {
		Outcome
		Review  Review
		LogPath string
	}
	// RepairAnswered: the repairer's answer kept its contract.
	RepairAnswered struct {
		Outcome
		Repair  Repair
		LogPath string
	}
	// AnswerRefused: an agent's answer broke its contract; Problems say how.
	AnswerRefused struct {
		Outcome
		Problems []string
		LogPath  string
	}
	// Implemented: the implementer ended well. Whether it changed anything is another fact.
	Implemented struct {
		Outcome
		Summary, LogPath string
	}
	// AgentFailed: the agent did not end well. Code is a reason code such as AGENT_HUNG.
	AgentFailed struct {
		Outcome
		Code, Message, LogPath string
		// Until is when a limit of the provider ends; zero if there is none or it wasn't said.
		Until time.Time
	}
	// EnvironmentRestored: the environment is where its setup begins or, Warm, where an earlier setup with the same Fingerprint ended.
	EnvironmentRestored struct {
		Outcome
		Fingerprint string
		Warm        bool
		// Tested is the result of an earlier run's tests on the same commit in the same environment; nil if there is none.
		Tested *BaseCheck
	}
	// SetUpEnded: one setup or verification command ended.
	SetUpEnded struct {
		Outcome
		OK bool
		// Class says what to do about a failure.
		Class      FailureClass
		Message    string
		LogPath    string
		DurationMS int64
	}
	// SetUpAdopted: the environment's files are those that the setup left, and tests may run in it. Untracked is as in SnapshotTaken.
	SetUpAdopted struct {
		Outcome
		Untracked []string
	}
	// SnapshotTaken: the environment can be restored to what the setup left.
	SnapshotTaken struct {
		Outcome
		// Problem says why later runs can't use the snapshot; empty if they can.
		Problem string
		// Untracked are the files that no snapshot holds: see SetUp.Untracked.
		Untracked []string
	}
	// ChangeRecorded: the environment's content is a commit in the user's repository.
	ChangeRecorded struct {
		Outcome
		// Commit equals the head before if nothing changed.
		Commit string
		// Files differ from the step's base, Whole from the commit where the branch began; a nil Whole was not looked at.
		Files, Whole []policy.FileChange
		// Concerns are about the whole change. Tests are the files of tests in it that existed before.
		Concerns  []policy.Concern
		Tests     []policy.TestFile
		PatchPath string
		// Unresolved are the files that still have conflict markers.
		Unresolved []string
	}
	// ChangeRefused: the environment's content cannot be recorded at all.
	ChangeRefused struct {
		Outcome
		Problems []string
		// TooLarge: it cannot be saved to a ref either.
		TooLarge bool
	}
	// TestsEnded: test commands ran on Commit; Command is all of them, or the one that failed.
	TestsEnded struct {
		Outcome
		Passed     bool
		Commit     string
		Command    string
		LogPath    string
		DurationMS int64
		Summary    string // of the failure, a few lines
		// Failures are the commands that failed. On the base, they include commands that ran no test.
		Failures []TestFailure
	}
	// PullRequestOpened: the change is offered on the forge. If its pull request was open already, the head was pushed to it. Number is 0 if a draft was
	// not offered, because the branch was moved.
	PullRequestOpened struct {
		Outcome
		Number     int
		URL        string
		CompareURL string
	}
	// ChecksEnded: the checks of the merge candidate came to State.
	ChecksEnded struct {
		Outcome
		State ChecksState
		// Again is when to look again at ChecksPending, or for people; zero is soon, and then ever more rarely.
		Again time.Time
		// ApprovedBy is who approves the head on the forge; empty if too few do.
		ApprovedBy string
		// Awaits is what is missing: at ChecksPassed people, if some have to act; at ChecksPending whatever it is.
		Awaits *Await
		// Objections are those that the run has not taken up, of ChecksObjected.
		Objections []Objection
		// Known are the tests that fail as they failed before the change, if nothing else fails; then State is ChecksPassed.
		Known []string
		// Rerunnable: what failed, of ChecksFailed, are jobs that the forge can run again.
		Rerunnable bool
		Candidate  Candidate
		Command    string
		DurationMS int64
		// Check names what failed on the forge, if that is why; then Command is empty. Log is the end of what its failed steps printed.
		LogPath, Summary, Check, Log string
	}
	// ChecksRerun: the forge runs the Jobs again that failed on the head; none if it can't.
	ChecksRerun struct {
		Outcome
		Jobs []string
	}
	// Merged: the base branch contains the change; Commit is the full id of the merge. Untested: the forge made it, and its tree has not passed the
	// tests. It also answers watch_checks and close_pull_request, if someone merged the change on the forge.
	Merged struct {
		Outcome
		Commit   string
		Untested bool
	}
	// BaseMerged: the base branch, at Base, is part of the change, whose new head is Commit. If Commit is the head as it was, the base had
	// nothing new. Conflicts are the files that have conflict markers.
	BaseMerged struct {
		Outcome
		Base, Commit string
		Conflicts    []string
		// Whole is what differs from the base branch; Concerns and Tests are as in ChangeRecorded.
		Whole    []policy.FileChange
		Concerns []policy.Concern
		Tests    []policy.TestFile
	}
	// PullRequestClosed: the pull request of a canceled run is closed unmerged.
	PullRequestClosed struct{ Outcome }
	// HeadMoved: the branch has commits that the checks have not seen. Nothing was merged.
	HeadMoved struct{ Outcome }
	// BaseMoved: the base branch has commits that the checks have not seen. Nothing was merged.
	BaseMoved struct{ Outcome }
	// EnvironmentRemoved: the environment and the branch are gone. KeptRef holds their work; empty if there was none to keep.
	EnvironmentRemoved struct {
		Outcome
		KeptRef string
	}
	// AgreementFound: a person agreed to the SetUp.Content named Content in an earlier run; empty if no one did.
	AgreementFound struct {
		Outcome
		Content string
	}
	// AgreementKept: later runs with the same setup will find the agreement. Problem says why they won't; empty if they will.
	AgreementKept struct {
		Outcome
		Problem string
	}
	// RequestClosed: the request is closed, as the last thing in a run's life.
	RequestClosed struct{ Outcome }
	// WorkDropped: the environment is as it was last recorded. Work that was too large to keep is lost.
	WorkDropped struct{ Outcome }
	// CommentPosted: the issue has the comment about the failed setup.
	CommentPosted struct{ Outcome }
	// Waited: the time of a wait is over.
	Waited struct{ Outcome }
	// ActionFailed: the action could not be performed at all.
	ActionFailed struct {
		Outcome
		Error Error
		// RetryAfter is how long the other side asked to wait; 0 if it didn't say.
		RetryAfter time.Duration
	}
)

// ChecksState is the result of the checks of a merge candidate.
type ChecksState string

const (
	// ChecksPassed: the candidate may be merged.
	ChecksPassed ChecksState = "passed"
	// ChecksFailed: the change goes back to the implementer, until Limits.CIFailures of them in a row stop the run.
	ChecksFailed ChecksState = "failed"
	// ChecksConflict: the change does not merge with the base. The agent resolves it, or a person.
	ChecksConflict ChecksState = "conflict"
	// ChecksPending: some are not there yet. The run looks again, up to Limits.ChecksTotalSec after the first look.
	ChecksPending ChecksState = "pending"
	// ChecksObjected: someone on the forge wants the change to be another. It goes back to the implementer, until Limits.ReviewRounds of them in a row
	// stop the run.
	ChecksObjected ChecksState = "objected"
	// ChecksSilent: the forge reported nothing within Limits.ChecksTotalSec. The run stops for a person.
	ChecksSilent ChecksState = "silent"
	// ChecksUnsettled: they ran out of time or memory, so the next time may tell otherwise. They are repeated once.
	ChecksUnsettled ChecksState = "unsettled"
)
