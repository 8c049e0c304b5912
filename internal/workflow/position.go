package workflow

// Phase is the number of a phase in a request's life, 0 to 14. Documents name a phase by its step, and the number
// follows from that name.
type Phase int

// StepName is the name of a phase in documents: "tdd-green".
type StepName string

const (
	// BranchCreate makes the run's branch at the base branch's present commit, once everything the request depends on is merged.
	BranchCreate Phase = iota
	// EnvCreate makes the environment: a clone of its own for the agent, isolated from the machine. Where a planner will be paid, the project's
	// tests run there first.
	EnvCreate
	// DesignRead finds the documents that the planner is shown.
	DesignRead
	// DesignCheck asks the planner for a plan, and stops for a person if the request is ambiguous. The environment's setup is its second half.
	DesignCheck
	// TDDRed writes tests that fail until the feature is there.
	TDDRed
	// TDDGreen implements the plan. After its last step, the tests must pass.
	TDDGreen
	// TDDRefactor improves the code without changing what it does. It may change nothing.
	TDDRefactor
	// ReviewRequest has the reviewer read the whole change.
	ReviewRequest
	// ReviewFix answers findings: of the review, a failed check, a conflict or a person. Without findings it is passed by.
	ReviewFix
	// StressTest runs the project's stress test.
	StressTest
	// ApprovalWait stops for a person's consent to the exact commit, unless approval is automatic and no flag asks for a person.
	ApprovalWait
	// PRCreate pushes the branch and opens the pull request.
	PRCreate
	// CIWatch tests the merge candidate: the exact content that a merge would put on the base branch.
	CIWatch
	// MergeCleanup merges the change and removes its environment. Canceling no longer helps once the merge is recorded.
	MergeCleanup
	// ParentClose closes the request on the forge.
	ParentClose
)

// ProgressPhase is the division that the comment on the issue shows, coarser than Phase.
type ProgressPhase string

const (
	ProgressPrePlanning ProgressPhase = "pre_planning" // branch, environment and documents
	ProgressPlanning    ProgressPhase = "planning"     // the plan is made
	// ProgressEnvironmentSetup: the second half of design-check, while Details.SettingUp is true.
	ProgressEnvironmentSetup ProgressPhase = "environment_setup"
	ProgressExecution        ProgressPhase = "execution"    // tests, implementation and refactoring
	ProgressReflection       ProgressPhase = "reflection"   // the review, and what answers it
	ProgressVerification     ProgressPhase = "verification" // stress test, approval, pull request and checks
	ProgressComplete         ProgressPhase = "complete"     // merging, and after
)

// ProgressPhases lists the seven in order.
var ProgressPhases = []ProgressPhase{ProgressPrePlanning, ProgressPlanning, ProgressEnvironmentSetup, ProgressExecution, ProgressReflection, ProgressVerification, ProgressComplete}

// Position is one row of the one table from which every document takes its idea of "where".
type Position struct {
	Phase Phase
	Step  StepName
	// Stage is where the phase starts; while it works a run moves within Stages.
	Stage    Stage
	Stages   []Stage
	Progress ProgressPhase
	// Resume is what a program does that finds an environment in this phase.
	Resume string
	// Doing is the sentence for people, in the present tense.
	Doing string
	// Optional phases may be left out of a workflow. The others stand between every request and the base branch; no configuration removes them.
	Optional bool
}

// Positions is the table, indexed by Phase. It has no row for the setup within design-check: see Details.SettingUp.
var Positions = [...]Position{
	{BranchCreate, "branch-create", StageLockAcquired, []Stage{StageInit, StageLockAcquired}, ProgressPrePlanning, "create_branch", "making the branch", false},
	{EnvCreate, "env-create", StageLockAcquired, nil, ProgressPrePlanning, "open_environment", "making the environment", false},
	{DesignRead, "design-read", StagePlanning, nil, ProgressPrePlanning, "read_design", "reading the project's documents", true},
	{DesignCheck, "design-check", StagePlanning, nil, ProgressPlanning, "check_design_feasibility", "planning", true},
	{TDDRed, "tdd-red", StageImplementing, workStages, ProgressExecution, "write_tests", "writing failing tests", true},
	{TDDGreen, "tdd-green", StageImplementing, workStages, ProgressExecution, "implement", "implementing", false},
	{TDDRefactor, "tdd-refactor", StageImplementing, workStages, ProgressExecution, "refactor", "refactoring", true},
	{ReviewRequest, "review-request", StageTesting, nil, ProgressReflection, "request_review", "having the change reviewed", true},
	{ReviewFix, "review-fix", StageImplementing, workStages, ProgressReflection, "fix_review_issues", "fixing what was found", true},
	{StressTest, "stress-test", StageTesting, nil, ProgressVerification, "run_stress_tests", "running the stress test", true},
	{ApprovalWait, "approval-wait", StageReporting, nil, ProgressVerification, "wait_approval", "waiting for approval", false},
	{PRCreate, "pr-create", StageReporting, nil, ProgressVerification, "create_pr", "preparing the change for its merge", false},
	{CIWatch, "ci-watch", StageReporting, nil, ProgressVerification, "watch_ci", "testing the merge candidate", false},
	{MergeCleanup, "merge-cleanup", StageFinalizing, nil, ProgressComplete, "merge_and_cleanup", "merging", false},
	{ParentClose, "parent-close", StageFinalizing, []Stage{StageFinalizing, StageEnd}, ProgressComplete, "close_parent_issue", "closing the request", false},
}

var workStages = []Stage{StageImplementing, StageApplying, StageTesting}

// LastPhase is the highest Phase.
const LastPhase = ParentClose

// Position returns p's row. A number outside the table has the row of env-create, from which an unknown position is resumed.
func (p Phase) Position() Position {
	if p < 0 || p > LastPhase {
		return Positions[EnvCreate]
	}
	return Positions[p]
}

// Step returns p's name.
func (p Phase) Step() StepName { return p.Position().Step }

func (p Phase) String() string { return string(p.Step()) }

// Valid reports whether p is in the table.
func (p Phase) Valid() bool { return p >= 0 && p <= LastPhase }

// PhaseOf returns the phase with that step name.
func PhaseOf(step StepName) (Phase, bool) {
	for _, row := range Positions {
		if row.Step == step {
			return row.Phase, true
		}
	}
	return 0, false
}

// ProgressPhase returns the run's place among the seven.
func (r *Run) ProgressPhase() ProgressPhase {
	if r.State == Done {
		return ProgressComplete
	}
	if r.Details.SettingUp && r.Details.Phase != EnvCreate {
		return ProgressEnvironmentSetup
	}
	return r.Details.Phase.Position().Progress
}
