package workflow

import "time"

// Action is an order as data. It is saved with the run before it is performed, and may be performed more than once: after a crash, it first looks
// for what it would create. The run says which branch, environment and pull request it works on; an action only holds what tells it from others of
// its kind.
type Action struct {
	// Key is unique within the run; the answering Event carries it.
	Key  string     `json:"key"`
	Kind ActionKind `json:"kind"`
	// Role, Step and Attempt say which agent call, change or test this is.
	Role    Role   `json:"role,omitempty"`
	StepID  string `json:"step_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Purpose and Commands belong to run_tests and run_set_up. With keep_environment, Purpose says that tests ran after the setup was adopted.
	Purpose  TestPurpose `json:"purpose,omitempty"`
	Commands []string    `json:"commands,omitempty"`
	// Expected is the output that a verification command must print; null for a setup command.
	Expected *string `json:"expected,omitempty"`
	// Reason tells the implementer why it is called again: failing tests, findings, no change. With renew_environment, it says why the snapshot is
	// evicted first.
	Reason string `json:"reason,omitempty"`
	// InPlace: the implementer continues with the files in the environment, because they are too large to keep and so cannot be removed. It was
	// told that they are too large.
	InPlace bool `json:"in_place,omitempty"`
	// Draft: the pull request shows work that isn't finished; one that is open as another is left so.
	Draft bool `json:"draft,omitempty"`
	// Until is the end of a wait.
	Until   *time.Time `json:"until,omitempty"`
	Unknown Unknown    `json:",embed"`
}

// ActionKind is the verb of an Action. Each is answered by the event that its comment names, or by ActionFailed.
type ActionKind string

const (
	// CheckDependencies looks up whether the requests that this one depends on are merged. → DependenciesChecked
	CheckDependencies ActionKind = "check_dependencies"
	// CreateBranch makes the run's branch at the base branch's present commit. → BranchCreated
	CreateBranch ActionKind = "create_branch"
	// DetectEnvironment reads the project's files for how to set it up. → EnvironmentDetected
	DetectEnvironment ActionKind = "detect_environment"
	// CreateEnvironment makes the environment, without its setup. → EnvironmentCreated
	CreateEnvironment ActionKind = "create_environment"
	// ReadDesign finds the documents for the planner. → DesignFound
	ReadDesign ActionKind = "read_design"
	// CallAgent calls the agent of Role; it costs money. → PlanAnswered, ReviewAnswered, RepairAnswered, Implemented, AnswerRefused or AgentFailed
	CallAgent ActionKind = "call_agent"
	// MergeBase merges the base branch into the change; conflicts become markers. → BaseMerged
	MergeBase ActionKind = "merge_base"
	// WritePlan writes planning.json. → PlanWritten
	WritePlan ActionKind = "write_plan"
	// RestoreEnvironment brings the environment to where its setup begins, or to the snapshot of an earlier one. → EnvironmentRenewed
	RestoreEnvironment ActionKind = "renew_environment"
	// RunSetUp runs one setup or verification command. → SetUpEnded
	RunSetUp ActionKind = "run_set_up"
	// AdoptSetUp makes what the setup left the environment's own, so that tests can run in it. → SetUpAdopted
	AdoptSetUp ActionKind = "adopt_set_up"
	// SnapshotEnvironment keeps the environment as it is for this run and for later ones with the same fingerprint. → EnvironmentKept
	SnapshotEnvironment ActionKind = "keep_environment"
	// RecordChange makes a commit of what the implementer left. → ChangeRecorded or ChangeRefused
	RecordChange ActionKind = "record_change"
	// RunTests runs test commands on the last recorded commit. → TestsEnded
	RunTests ActionKind = "run_tests"
	// OpenPullRequest pushes the branch and opens its pull request, or updates it. → PullRequestOpened
	OpenPullRequest ActionKind = "open_pull_request"
	// WatchChecks runs the tests on the merge candidate, once, and looks at what the forge's own checks say. → ChecksEnded or, if someone merged it, Merged
	WatchChecks ActionKind = "watch_checks"
	// RerunChecks has the forge run the failed jobs of the head again. → ChecksRerun
	RerunChecks ActionKind = "rerun_checks"
	// MergePullRequest merges exactly the checked candidate. → Merged, BaseMoved, HeadMoved or, pending, ChecksEnded
	MergePullRequest ActionKind = "merge_pull_request"
	// ClosePullRequest closes the pull request of a canceled run. → PullRequestClosed or Merged
	ClosePullRequest ActionKind = "close_pull_request"
	// RemoveEnvironment removes the environment and the branch, once their work is merged or on a ref. → EnvironmentRemoved
	RemoveEnvironment ActionKind = "remove_environment"
	// CloseRequest closes the merged request. → RequestClosed
	CloseRequest ActionKind = "close_request"
	// PostComment posts Reason on the issue. → CommentPosted
	PostComment ActionKind = "post_comment"
	// FindAgreement looks up whether a person agreed to this setup in an earlier run. → AgreementFound
	FindAgreement ActionKind = "find_agreement"
	// KeepAgreement records a person's agreement to the setup on this machine, for later runs. → AgreementKept
	KeepAgreement ActionKind = "keep_agreement"
	// DropWork brings the environment back to the last recorded commit; what is too large to keep is lost. → WorkDropped
	DropWork ActionKind = "drop_work"
	// Wait does nothing until Until. → Waited
	Wait ActionKind = "wait"
)

// TestPurpose tells the tests of a run apart.
type TestPurpose string

const (
	UnitTests   TestPurpose = "unit"   // the project's tests, on every recorded change
	E2ETests    TestPurpose = "e2e"    // after the unit tests, if the change must pass
	StressTests TestPurpose = "stress" // once the review passed
	BaseTests   TestPurpose = "base"   // before anything is changed
)

// Presence is what the engine of Details.Epoch knows about the run's environment, because it did it itself. No other engine may rely on it, and
// nothing in it outlives a stop of the run, except that the environment was entered and agents start.
type Presence struct {
	// Entered: this engine has started something in the environment, so the files there are its own.
	Entered bool `json:"entered,omitzero"`
	// AgentsStart: the run's agents were found to start.
	AgentsStart bool `json:"agents_start,omitzero"`
	// Content is the commit that the environment was just recorded as or brought to; empty once anything ran in it.
	Content string `json:"content,omitzero"`
	// TestedAt is the commit that the environment was at before tests, and nothing else, ran in it. Anything beyond that commit was left by the
	// tests, which would leave it again.
	TestedAt string  `json:"tested_at,omitzero"`
	Unknown  Unknown `json:",embed"`
}
