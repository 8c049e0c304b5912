package workflow

// Reason codes say in documents why a run stopped (Error.ReasonCode), and what an agent's call ended with. Programs compare them: a
// code is never changed and never used again for something else. Error.Title is for people.

// The run waits for a person, or was told to stop.
const (
	ApprovalRequired  = "APPROVAL_REQUIRED" // the change is tested and waits for a person's consent
	StopRequestedCode = "STOP_REQUESTED"    // a person stopped the run
	InterruptedCode   = "INTERRUPTED"       // the process that carried the run was told to end; any that carries it goes on
	PreparedCode      = "PREPARED"          // its environment was made for a session, and nothing else was asked for
)

// The published reasons for being blocked, as codes (E5).
const (
	DesignAmbiguityCode     = "DESIGN_AMBIGUITY"
	ReviewLoopExceededCode  = "REVIEW_LOOP_EXCEEDED"
	DependencyMissingCode   = "DEPENDENCY_MISSING"
	CIPersistentFailureCode = "CI_PERSISTENT_FAILURE"
)

// The change, or its tests, cannot go on.
const (
	TestsFailedCode    = "TESTS_FAILED"      // after every attempt
	TestsCannotRun     = "TESTS_CANNOT_RUN"  // a test command cannot be started, or runs no test
	TestsNotSettled    = "TESTS_NOT_SETTLED" // the tests ran out of time or memory, twice
	ChangeRefusedCode  = "CHANGE_REFUSED"    // it breaks a rule
	BranchRefused      = "BRANCH_REFUSED"    // commits that a person or a merge put on the branch break a rule
	NoChangeCode       = "NO_CHANGE"         // the agent ended well and changed nothing
	ContractBrokenCode = "CONTRACT_BROKEN"   // an agent's answer cannot be used
	ChecksSilentCode   = "CHECKS_SILENT"     // the forge reported no checks in time
	MergeConflictCode  = "MERGE_CONFLICT"
	SetupFailedCode    = "SETUP_FAILED"
)

// An agent's call ended so. The port of agents has the same words, and says what each means.
const (
	AgentFailedCode           = "AGENT_FAILED"
	AgentHungCode             = "AGENT_HUNG"
	AgentTimedOutCode         = "AGENT_TIMED_OUT"
	AgentOutOfMemoryCode      = "AGENT_OUT_OF_MEMORY"
	AgentUnavailableCode      = "AGENT_UNAVAILABLE"
	AgentNoAnswerCode         = "AGENT_NO_ANSWER"
	AgentRateLimitedCode      = "AGENT_RATE_LIMITED"
	AgentUsageLimitedCode     = "AGENT_USAGE_LIMITED"
	AgentUnauthorizedCode     = "AGENT_UNAUTHORIZED"
	AgentContextOverflowCode  = "AGENT_CONTEXT_OVERFLOW"
	AgentUnreachableCode      = "AGENT_UNREACHABLE"
	AgentNoRouteCode          = "AGENT_NO_ROUTE"
	AgentModelFailedCode      = "AGENT_MODEL_FAILED"
	AgentRequestRefusedCode   = "AGENT_REQUEST_REFUSED"
	AgentOverspentCode        = "AGENT_OVERSPENT"
	AgentDaySpentCode         = "AGENT_DAY_SPENT"
	AgentConversationLostCode = "AGENT_CONVERSATION_LOST"
)

// An action failed, and something outside of the change is the cause.
const (
	ActionFailedCode     = "ACTION_FAILED" // for a reason that has no code of its own
	NoSpaceCode          = "NO_SPACE"
	OutOfMemoryCode      = "OUT_OF_MEMORY"
	NoProcessesCode      = "NO_PROCESSES"
	NoPermissionCode     = "NO_PERMISSION"
	ReadOnlyCode         = "READ_ONLY"
	NoIsolationCode      = "NO_ISOLATION"      // commands cannot be kept apart from this machine
	NoContainerCode      = "NO_CONTAINER"      // no container engine answers
	EnvironmentGoneCode  = "ENVIRONMENT_GONE"  // it was removed from outside
	OtherEnvironmentCode = "OTHER_ENVIRONMENT" // it was made with another configuration
	WorkTooLarge         = "WORK_TOO_LARGE"    // what lies in the environment can neither be kept nor be in the way
	NameTakenCode        = "NAME_TAKEN"        // a branch "signalbox" leaves no room for the branches of runs
	PartialCloneCode     = "PARTIAL_CLONE"
	SubmoduleMissingCode = "SUBMODULE_MISSING" // the files of a submodule cannot be put into an environment
	FilterFailedCode     = "FILTER_FAILED"
	NoIdentityCode       = "NO_IDENTITY" // git does not know the user's name
	SigningFailedCode    = "SIGNING_FAILED"
	CheckoutInTheWayCode = "CHECKOUT_IN_THE_WAY" // local changes are in the way of the merge
	RemoteMovedCode      = "REMOTE_MOVED"        // the remote has commits that are missing here
	RemoteRefusesCode    = "REMOTE_REFUSES"      // the remote would not take the merge
	NoBaseBranchCode     = "NO_BASE_BRANCH"
	ForgeUnavailableCode = "FORGE_UNAVAILABLE"
	NotFoundCode         = "NOT_FOUND"
	BrokenDocumentCode   = "BROKEN_DOCUMENT"
	StageWriteFailedCode = "STAGE_WRITE_FAILED" // on standard error alone: the run could not be saved
)
