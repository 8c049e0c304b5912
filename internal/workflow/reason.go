package workflow

// Reason codes say in documents why a run stopped (Error.ReasonCode), and how an agent's call ended. Programs compare
// them: a code never changes and is never reused for something else. Error.Title is for people. docs/reasons.md lists
// them with the next step that goes with each.

// The run waits for a person, or was told to stop. Nothing failed.
const (
	// ApprovalRequired: the change is tested and waits for a person's consent to its last commit.
	ApprovalRequired = "APPROVAL_REQUIRED"
	// StopRequestedCode: a person stopped the run. The pending action begins again when it is resumed.
	StopRequestedCode = "STOP_REQUESTED"
	// InterruptedCode: the run's process was told to end (SIGTERM, SIGHUP). The next process that runs the project continues it, with the
	// budgets as they were.
	InterruptedCode = "INTERRUPTED"
	// PreparedCode: the environment was made for a session, and nothing else was asked for.
	PreparedCode = "PREPARED"
)

// The published reasons for being blocked, as codes. See BlockedReason.
const (
	// DesignAmbiguityCode: the planner found that the request can be read in more than one way.
	DesignAmbiguityCode = "DESIGN_AMBIGUITY"
	// ReviewLoopExceededCode: Limits.ReviewRounds reviews or stress tests in a row found something.
	ReviewLoopExceededCode = "REVIEW_LOOP_EXCEEDED"
	// DependencyMissingCode: a request that this one depends on is not merged.
	DependencyMissingCode = "DEPENDENCY_MISSING"
	// CIPersistentFailureCode: the checks of the merge candidate failed Limits.CIFailures times in a row.
	CIPersistentFailureCode = "CI_PERSISTENT_FAILURE"
)

// The change, or its tests, cannot go on.
const (
	// TestsFailedCode: the tests still fail after Limits.Autofix more attempts.
	TestsFailedCode = "TESTS_FAILED"
	// TestsCannotRun: on the unchanged base, a test command cannot be started or runs no test. Nothing was paid for.
	TestsCannotRun = "TESTS_CANNOT_RUN"
	// TestsNotSettled: the tests ran out of time or memory, or were killed, twice. The change is not blamed.
	TestsNotSettled = "TESTS_NOT_SETTLED"
	// ChangeRefusedCode: the agent's change breaks a rule that no approval lifts, and did again after the agent was told.
	ChangeRefusedCode = "CHANGE_REFUSED"
	// BranchRefused: commits that a person, or a merge of the base, put on the branch break such a rule.
	BranchRefused = "BRANCH_REFUSED"
	// NoChangeCode: the agent ended well and changed nothing, or nothing differs from the base branch.
	NoChangeCode = "NO_CHANGE"
	// ContractBrokenCode: an agent's answer cannot be used, after Limits.ContractRetries more attempts.
	ContractBrokenCode = "CONTRACT_BROKEN"
	// ChecksSilentCode: the forge reported no checks within Limits.ChecksTotalSec.
	ChecksSilentCode = "CHECKS_SILENT"
	// MergeConflictCode: the change conflicts with the base branch, and the agent resolves that only if a person says so.
	MergeConflictCode = "MERGE_CONFLICT"
	// SetupFailedCode: the setup failed for good, and the configuration says to stop then.
	SetupFailedCode = "SETUP_FAILED"
)

// The end of an agent's call. The agent port has the same words. A call that may succeed next time is retried within
// Limits.AgentRetries first; a limit of the provider parks the run as QUEUED.
const (
	// AgentFailedCode: the program crashed.
	AgentFailedCode = "AGENT_FAILED"
	// AgentHungCode: it printed nothing for Limits.AgentIdleSec.
	AgentHungCode = "AGENT_HUNG"
	// AgentTimedOutCode: the call took longer than Limits.AgentTotalSec.
	AgentTimedOutCode = "AGENT_TIMED_OUT"
	// AgentOutOfMemoryCode: it exceeded the memory of its environment.
	AgentOutOfMemoryCode = "AGENT_OUT_OF_MEMORY"
	// AgentUnavailableCode: the program is missing, too old or refuses its arguments. Not retried.
	AgentUnavailableCode = "AGENT_UNAVAILABLE"
	// AgentNoAnswerCode: the planner, reviewer or repairer ended without an answer.
	AgentNoAnswerCode = "AGENT_NO_ANSWER"
	// AgentRateLimitedCode: too many requests to the model at once. The run is parked.
	AgentRateLimitedCode = "AGENT_RATE_LIMITED"
	// AgentUsageLimitedCode: the user's plan with the provider is used up for now. The run is parked until the plan renews.
	AgentUsageLimitedCode = "AGENT_USAGE_LIMITED"
	// AgentUnauthorizedCode: the model's server refused the key or login. Not retried.
	AgentUnauthorizedCode = "AGENT_UNAUTHORIZED"
	// AgentContextOverflowCode: the conversation outgrew the model's context. The next attempt begins a new one.
	AgentContextOverflowCode = "AGENT_CONTEXT_OVERFLOW"
	// AgentUnreachableCode: the model could not be reached, after waits of up to 30 minutes.
	AgentUnreachableCode = "AGENT_UNREACHABLE"
	// AgentNoRouteCode: the model cannot be reached with this machine's settings: name, certificate or proxy. Not retried.
	AgentNoRouteCode = "AGENT_NO_ROUTE"
	// AgentModelFailedCode: the model's server kept failing, after waits of up to 30 minutes.
	AgentModelFailedCode = "AGENT_MODEL_FAILED"
	// AgentRequestRefusedCode: the model's server refuses the request, for example because it doesn't know the model. Not retried.
	AgentRequestRefusedCode = "AGENT_REQUEST_REFUSED"
	// AgentOverspentCode: the run's agents used its budget.
	AgentOverspentCode = "AGENT_OVERSPENT"
	// AgentDaySpentCode: all runs together used the day's budget. The run is parked until the next day (UTC).
	AgentDaySpentCode = "AGENT_DAY_SPENT"
	// AgentConversationLostCode: the agent no longer knows the conversation to resume. The next attempt begins a new one.
	AgentConversationLostCode = "AGENT_CONVERSATION_LOST"
)

// An action failed, and the cause is outside the change. A passing failure was repeated Limits.ActionRetries times
// first, from 5 s to 10 min apart.
const (
	// ActionFailedCode: the reason has no code of its own; the message has it.
	ActionFailedCode = "ACTION_FAILED"
	// NoSpaceCode: the disk is full, or nearly.
	NoSpaceCode = "NO_SPACE"
	// OutOfMemoryCode: this machine ran out of memory.
	OutOfMemoryCode = "OUT_OF_MEMORY"
	// NoProcessesCode: no further process can be started.
	NoProcessesCode = "NO_PROCESSES"
	// NoPermissionCode: a file or folder may not be read or written.
	NoPermissionCode = "NO_PERMISSION"
	// ReadOnlyCode: the file system is read-only.
	ReadOnlyCode = "READ_ONLY"
	// NoIsolationCode: commands cannot be isolated from this machine.
	NoIsolationCode = "NO_ISOLATION"
	// NoContainerCode: no container engine answers.
	NoContainerCode = "NO_CONTAINER"
	// EnvironmentGoneCode: the environment was removed from outside. Resuming makes it again from the recorded commits.
	EnvironmentGoneCode = "ENVIRONMENT_GONE"
	// OtherEnvironmentCode: the environment was made with another configuration.
	OtherEnvironmentCode = "OTHER_ENVIRONMENT"
	// WorkTooLarge: files in the environment are too large to keep, and in the way of the next action. A person saves them or lets them go.
	WorkTooLarge = "WORK_TOO_LARGE"
	// NameTakenCode: a branch named "signalbox" leaves no room for the branches of runs.
	NameTakenCode = "NAME_TAKEN"
	// PartialCloneCode: the user's clone lacks objects of the project, and they cannot be fetched.
	PartialCloneCode = "PARTIAL_CLONE"
	// SubmoduleMissingCode: the files of a submodule cannot be put into an environment.
	SubmoduleMissingCode = "SUBMODULE_MISSING"
	// FilterFailedCode: a filter that the user's git requires fails, such as git-lfs.
	FilterFailedCode = "FILTER_FAILED"
	// NoIdentityCode: git does not know the user's name and e-mail.
	NoIdentityCode = "NO_IDENTITY"
	// SigningFailedCode: the user's git signs commits, and signing failed.
	SigningFailedCode = "SIGNING_FAILED"
	// CheckoutInTheWayCode: local changes, or a merge or rebase in progress, are in the way of the merge.
	CheckoutInTheWayCode = "CHECKOUT_IN_THE_WAY"
	// RemoteMovedCode: the remote has commits of the base branch that are missing here.
	RemoteMovedCode = "REMOTE_MOVED"
	// RemoteRefusesCode: the remote cannot be reached, or would refuse the merge.
	RemoteRefusesCode = "REMOTE_REFUSES"
	// NoBaseBranchCode: the base branch does not exist any more.
	NoBaseBranchCode = "NO_BASE_BRANCH"
	// ForgeUnavailableCode: the forge does not answer. The other forge codes, but for Limited, are not retried.
	ForgeUnavailableCode  = "FORGE_UNAVAILABLE"
	ForgeLimitedCode      = "FORGE_LIMITED"       // it has had too many calls
	ForgeUnauthorizedCode = "FORGE_UNAUTHORIZED"  // it refuses the token
	ForgeForbiddenCode    = "FORGE_FORBIDDEN"     // the account lacks a right
	ForgeRefusedCode      = "FORGE_REFUSED"       // it understood, and says no
	MergedUntestedCode    = "MERGED_UNTESTED"     // it put another tree on the base branch than was tested
	BaseRewrittenCode     = "BASE_REWRITTEN"      // the base branch lacks commits that the run relies on
	PullRequestClosedCode = "PULL_REQUEST_CLOSED" // someone closed the pull request there
	// NotFoundCode: a request or a pull request of the run does not exist any more.
	NotFoundCode = "NOT_FOUND"
	// BrokenDocumentCode: a document cannot be read. It is kept as it is.
	BrokenDocumentCode = "BROKEN_DOCUMENT"
	// StageWriteFailedCode appears on standard error only: the run could not be saved, so its process ended before it did anything unsaved.
	StageWriteFailedCode = "STAGE_WRITE_FAILED"
)
