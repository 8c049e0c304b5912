package workflow

import "time"

// Action is an order, as data. It is saved with the run before it is performed
// and may be performed more than once: it first
// looks for the thing that it would create. What an action works on (branch, environment, pull
// request) is read from the run; here is only what tells it from its like.
type Action struct {
	// Key is unique within the run; the answering Event carries it.
	Key  string     `json:"key"`
	Kind ActionKind `json:"kind"`
	// Role, Step and Attempt say which agent call, change or test this is.
	Role    Role   `json:"role,omitempty"`
	StepID  string `json:"step_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Purpose and Commands belong to RunTests and RunSetUp. SnapshotEnvironment has the Purpose of tests that ran since the
	// set-up was adopted.
	Purpose  TestPurpose `json:"purpose,omitempty"`
	Commands []string    `json:"commands,omitempty"`
	// Expected is the verification output that the command must print, nil for a set-up command.
	Expected *string `json:"expected,omitempty"`
	// Reason tells the implementer why it is called again: failing tests, findings, no change. With
	// RestoreEnvironment it says why what is kept for the set-up is to be forgotten.
	Reason string `json:"reason,omitempty"`
	// InPlace: an implementer that cannot be begun anew, because what lies in the environment is too
	// large to keep, goes on with it. It was told so, and it made it.
	InPlace bool `json:"in_place,omitempty"`
	// Until belongs to Wait.
	Until   *time.Time `json:"until,omitempty"`
	Unknown Unknown    `json:",embed"`
}

// ActionKind is the verb of an Action.
type ActionKind string

const (
	CheckDependencies   ActionKind = "check_dependencies" // → DependenciesChecked
	CreateBranch        ActionKind = "create_branch"      // → BranchCreated
	DetectEnvironment   ActionKind = "detect_environment" // → EnvironmentDetected
	CreateEnvironment   ActionKind = "create_environment" // → EnvironmentCreated
	ReadDesign          ActionKind = "read_design"        // → DesignFound
	CallAgent           ActionKind = "call_agent"         // → PlanAnswered, ReviewAnswered, RepairAnswered, Implemented, AnswerRefused or AgentFailed
	MergeBase           ActionKind = "merge_base"         // → BaseMerged
	WritePlan           ActionKind = "write_plan"         // → PlanWritten
	RestoreEnvironment  ActionKind = "renew_environment"  // → EnvironmentRenewed
	RunSetUp            ActionKind = "run_set_up"         // → SetUpEnded
	AdoptSetUp          ActionKind = "adopt_set_up"       // → SetUpAdopted
	SnapshotEnvironment ActionKind = "keep_environment"   // → EnvironmentKept
	RecordChange        ActionKind = "record_change"      // → ChangeRecorded or ChangeRefused
	RunTests            ActionKind = "run_tests"          // → TestsEnded
	OpenPullRequest     ActionKind = "open_pull_request"  // → PullRequestOpened
	WatchChecks         ActionKind = "watch_checks"       // → ChecksEnded
	MergePullRequest    ActionKind = "merge_pull_request" // → Merged or BaseMoved
	ClosePullRequest    ActionKind = "close_pull_request" // → PullRequestClosed
	RemoveEnvironment   ActionKind = "remove_environment" // → EnvironmentRemoved
	CloseRequest        ActionKind = "close_request"      // → RequestClosed
	PostComment         ActionKind = "post_comment"       // → CommentPosted
	FindAgreement       ActionKind = "find_agreement"     // → AgreementFound
	KeepAgreement       ActionKind = "keep_agreement"     // → AgreementKept
	DropWork            ActionKind = "drop_work"          // → WorkDropped
	Wait                ActionKind = "wait"               // → Waited
)

// TestPurpose tells the tests of a run apart.
type TestPurpose string

const (
	UnitTests   TestPurpose = "unit"
	E2ETests    TestPurpose = "e2e" // after the unit tests, where a change must pass
	StressTests TestPurpose = "stress"
	BaseTests   TestPurpose = "base" // before anything is changed
)

// Presence is what the engine of Details.Epoch knows of the run's environment because it did it itself. No other
// engine may rely on it, and none of it holds for longer than the engine has the run: see Readmitted.
type Presence struct {
	// Entered: this engine has started something in the environment, so the files there are its own.
	Entered bool `json:"entered,omitzero"`
	// AgentsStart: the run's agents were found to start.
	AgentsStart bool `json:"agents_start,omitzero"`
	// Content is the commit that the environment was just recorded as or brought to; empty once anything ran in it.
	Content string `json:"content,omitzero"`
	// TestedAt is the commit that the environment was at before tests ran in it, and nothing else since: what is
	// there beyond that commit, they left, and would leave again.
	TestedAt string  `json:"tested_at,omitzero"`
	Unknown  Unknown `json:",embed"`
}

// Readmitted is what holds of it when a run is admitted, by the same engine as before or by another one. An action
// that was stopped has no outcome, so what lies in the environment is known to neither.
func (p Presence) Readmitted(same bool) Presence {
	if !same {
		return Presence{Unknown: p.Unknown}
	}
	p.Content, p.TestedAt = "", ""
	return p
}
