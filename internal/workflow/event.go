package workflow

import (
	"time"

	"signalbox/internal/workflow/policy"
)

// Event is a fact that Decide takes into account: something a person ordered,
// or the outcome of an Action. A fact says what happened, never what to do
// about it.
type Event interface {
	// Answers returns the outcome of the action that the event answers; nil for an event that answers none.
	Answers() *Outcome
}

// Outcome is embedded in every event that answers an Action. An outcome whose
// Key is not pending is ignored: it was answered before, or never asked for.
type Outcome struct {
	Key string `json:"key"`
	// Call is what a call of an agent came to beside what the event says; nil of other actions.
	Call *Call `json:"call,omitempty"`
	// Presence is what the engine knows of the environment after the action; nil leaves what it knew before.
	Presence *Presence `json:"-"`
}

func (o Outcome) Answers() *Outcome { return &o }

// order is embedded in every event that answers no action.
type order struct{}

func (order) Answers() *Outcome { return nil }

// What people and the queue say.
type (
	// Admitted: the run holds its request lock and a slot of the queue. It starts, or goes on.
	Admitted struct {
		order
		Request, Queue Lock
		Epoch          int64
		// Isolation is what commands will be kept in from now on; empty means as before.
		Isolation string
		// Prepare: the run goes no further than its environment, for a session.
		Prepare bool
		// Ceiling is what the run's agents may use from now on; nil means as before. It is no goal of
		// the run, so a changed configuration counts at once.
		Budget *Spending
		// Base is the full id of the base branch's commit, empty where it was not asked for: see Details.FromBase.
		Base string
		// Settings are what the configuration says now; they count for a run that goes on FromBase because
		// its tests could not run. Nil leaves them.
		Settings *Settings
	}
	// Named: a person named Program to implement the request from now on. It is saved before the run waits
	// for anything, so that a crash in the queue does not lose it.
	Named struct {
		order
		Program string
	}
	// Waiting: no slot, or another run must end first; For says which, for people. The run is in the
	// hands of a runner, which holds Request.
	Waiting struct {
		order
		For     string
		Request Lock
	}
	// StopRequested: a person wants the run to stand still, or (Cancel) to be given up.
	StopRequested struct {
		order
		Cancel bool
	}
	// Interrupted: the process that carries the run was told to end, and not by anybody who wants the run
	// to stand still: the machine shuts down, or the terminal is gone. Whoever carries it next goes on.
	Interrupted struct{ order }
	// Prepared: the run was wanted for its environment alone, and has it.
	Prepared struct{ order }
	// Resumed: a person says that what stopped the run is settled.
	Resumed struct {
		order
		// Force: and that work which is too large to keep may be lost, where that is what stopped it.
		Force bool
	}
	// Retried: a person wants a failed run to be tried again.
	Retried struct{ order }
	// Approved: a person agrees to Commit.
	Approved struct {
		order
		Commit, By string
	}
	// AgentReported: the call of the pending action Key has come to this so far.
	AgentReported struct {
		order
		Key  string
		Call Call
	}
	// SessionBegan: a session works in the environment of the run, which nobody carries. It counts as one
	// call. Grant: a person grants the run's budgets anew. The others are as in Admitted.
	SessionBegan struct {
		order
		Epoch  int64
		Budget *Spending
		Grant  bool
	}
	// SessionUsed: it has used this since it was told last.
	SessionUsed struct {
		order
		Usage Usage
	}
	// SessionBaseSet: the environment is about to be brought to Commit, for a session. See Details.Upon.
	SessionBaseSet struct {
		order
		Commit string
	}
	// WorkFound: what lay unrecorded in the environment when the run went on there is on Ref.
	WorkFound struct {
		order
		Ref string
	}
	// BranchMoved: the run's branch is at Commit, where Signalbox did not put it; an empty Commit means that
	// it is gone. OnTop: Commit continues Head. Commits is how many commits it has that Head lacks, By who
	// wrote them, KeptRef the ref that holds them. Whole is what the change would be with them.
	BranchMoved struct {
		order
		Commit  string
		OnTop   bool
		Commits int
		By      []string
		KeptRef string
		// Whole, Concerns and Tests are as in ChangeRecorded.
		Whole    []policy.FileChange
		Concerns []policy.Concern
		Tests    []policy.TestFile
	}
	// Asked: the agent of the pending action Question.Key asks, and waits. What is not the agent's own
	// word in Question is not read.
	Asked struct {
		order
		Question Question
	}
	// Answered: somebody, or the deadline, answers the question that Answer names. Command is the ID of
	// the Command that said so, if one did.
	Answered struct {
		order
		Command string
		Answer  Answer
	}
	// Withdrawn: the agent wants no answer to Question, an ID, any more.
	Withdrawn struct {
		order
		Question string
	}
	// SyncOrdered: a person wants the base branch of now merged into the change.
	SyncOrdered struct{ order }
	// Rejected: a person sends the change back.
	Rejected struct {
		order
		Reason, By string
	}
)

// What performing an action brought.
type (
	// DependenciesChecked: Missing requests are not merged yet.
	DependenciesChecked struct {
		Outcome
		Missing []string
	}
	BranchCreated struct {
		Outcome
		BaseCommit string
	}
	EnvironmentDetected struct {
		Outcome
		Detection Detection
	}
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
	ReviewAnswered struct {
		Outcome
		Review  Review
		LogPath string
	}
	RepairAnswered struct {
		Outcome
		Repair  Repair
		LogPath string
	}
	// AnswerRefused: an answer broke its contract; Problems say how.
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
	// Until is when the model is to be had again, of those that a limit stopped; zero if not told.
	AgentFailed struct {
		Outcome
		Code, Message, LogPath string
		Until                  time.Time
	}
	// EnvironmentRestored: the environment is where its set-up begins or, Warm, where an earlier
	// one with the same Fingerprint ended.
	EnvironmentRestored struct {
		Outcome
		Fingerprint string
		Warm        bool
		// Tested is what an earlier run found of the tests on the same commit in the same environment; nil if none did.
		Tested *BaseCheck
	}
	// SetUpEnded: one set-up or verification command ended.
	SetUpEnded struct {
		Outcome
		OK         bool
		Class      FailureClass
		Message    string
		LogPath    string
		DurationMS int64
	}
	// SetUpAdopted: what the set-up made is the environment's, before tests run in it. Untracked is as in
	// SnapshotTaken.
	SetUpAdopted struct {
		Outcome
		Untracked []string
	}
	// SnapshotTaken: what the set-up made is the environment's. Problem says why it could not be
	// kept for later ones, empty if it was. Untracked are the files that could not be: see SetUp.Untracked.
	SnapshotTaken struct {
		Outcome
		Problem   string
		Untracked []string
	}
	// ChangeRecorded: the environment's content is a commit in our repository.
	ChangeRecorded struct {
		Outcome
		// Commit equals the head before when nothing changed.
		Commit string
		// Files differ from the step's base, Whole from the commit where the branch began; a nil
		// Whole was not looked at.
		Files, Whole []policy.FileChange
		// Concerns are about the whole change, Tests the files of tests in it that were there before.
		Concerns  []policy.Concern
		Tests     []policy.TestFile
		PatchPath string
		// Unresolved are the files in which conflict markers are left.
		Unresolved []string
	}
	// ChangeRefused: the environment's content cannot be recorded at all.
	ChangeRefused struct {
		Outcome
		Problems []string
		// TooLarge: nor can it be kept aside.
		TooLarge bool
	}
	TestsEnded struct {
		Outcome
		Passed     bool
		Commit     string
		Command    string
		LogPath    string
		DurationMS int64
		Summary    string // of the failure, a few lines
		// Failures are the commands that failed. Of the base's tests they include those that ran no test.
		Failures []TestFailure
	}
	PullRequestOpened struct {
		Outcome
		Number     int
		URL        string
		CompareURL string
	}
	ChecksEnded struct {
		Outcome
		State ChecksState
		// Known are the tests that fail as they failed before the change, where nothing else did; State is ChecksPassed then.
		Known      []string
		Candidate  Candidate
		Command    string
		DurationMS int64
		LogPath    string
		Summary    string
	}
	Merged struct {
		Outcome
		Commit string
	}
	// BaseMerged: the base branch, at Base, is part of the change, whose new head is Commit; with the head as it was,
	// nothing was missing. Conflicts are the files that hold conflict markers.
	BaseMerged struct {
		Outcome
		Base, Commit string
		Conflicts    []string
		// Whole is what differs from the base branch; Concerns and Tests are as in ChangeRecorded.
		Whole    []policy.FileChange
		Concerns []policy.Concern
		Tests    []policy.TestFile
	}
	PullRequestClosed struct{ Outcome }
	// HeadMoved: the branch has commits that the checks have not seen.
	HeadMoved struct{ Outcome }
	// BaseMoved: the base branch has commits that the checks have not seen.
	BaseMoved struct{ Outcome }
	// EnvironmentRemoved: KeptRef holds its work.
	EnvironmentRemoved struct {
		Outcome
		KeptRef string
	}
	// AgreementFound: in an earlier run a person agreed to the SetUp.Content named; empty: no one did.
	AgreementFound struct {
		Outcome
		Content string
	}
	// AgreementKept: later runs with the same set-up will find it. Problem says why not, empty if they will.
	AgreementKept struct {
		Outcome
		Problem string
	}
	RequestClosed struct{ Outcome }
	// WorkDropped: the environment is as it was last recorded. What was too large to keep is lost.
	WorkDropped   struct{ Outcome }
	CommentPosted struct{ Outcome }
	Waited        struct{ Outcome }
	// ActionFailed: the action could not be performed at all.
	ActionFailed struct {
		Outcome
		Error Error
		// RetryAfter is how long the other side asks us to wait; 0 if it did not say.
		RetryAfter time.Duration
	}
)

// ChecksState is what the forge's checks came to.
type ChecksState string

const (
	ChecksPassed   ChecksState = "passed"
	ChecksFailed   ChecksState = "failed"
	ChecksConflict ChecksState = "conflict" // the change does not merge with the base
	ChecksSilent   ChecksState = "silent"   // nothing was reported within the time limit
	// ChecksUnsettled: they ran out of time or memory, so the next time may tell otherwise.
	ChecksUnsettled ChecksState = "unsettled"
)
