package workflow

// Phase is the number of a phase of an issue's life, 0 to 14 (SPEC 0). The
// step's name is the key and the number is derived from it.
type Phase int

// StepName is the name of a phase in documents: "tdd-green".
type StepName string

const (
	BranchCreate Phase = iota
	EnvCreate
	DesignRead
	DesignCheck
	TDDRed
	TDDGreen
	TDDRefactor
	ReviewRequest
	ReviewFix
	StressTest
	ApprovalWait
	PRCreate
	CIWatch
	MergeCleanup
	ParentClose
)

// ProgressPhase is the grain of the comment on the issue (SPEC P9).
type ProgressPhase string

const (
	ProgressPrePlanning      ProgressPhase = "pre_planning"
	ProgressPlanning         ProgressPhase = "planning"
	ProgressEnvironmentSetup ProgressPhase = "environment_setup"
	ProgressExecution        ProgressPhase = "execution"
	ProgressReflection       ProgressPhase = "reflection"
	ProgressVerification     ProgressPhase = "verification"
	ProgressComplete         ProgressPhase = "complete"
)

// ProgressPhases lists the seven in the order of P9.
var ProgressPhases = []ProgressPhase{ProgressPrePlanning, ProgressPlanning, ProgressEnvironmentSetup, ProgressExecution, ProgressReflection, ProgressVerification, ProgressComplete}

// Position is one row of the one table off which every document's idea of
// "where" is read (SPEC 0).
type Position struct {
	Phase Phase
	Step  StepName
	// Stage is where the phase starts; while it works a run moves within Stages.
	Stage    Stage
	Stages   []Stage
	Progress ProgressPhase
	// Resume is what a program does that finds an environment here (E10).
	Resume string
	// Doing is the sentence for people, in the present tense.
	Doing string
	// Optional phases may be left out of a workflow; the others are the interlock between a
	// request and the base branch, and no configuration removes them.
	Optional bool
}

// Positions is the table of SPEC 0, indexed by Phase. The set-up sub-phase of
// design-check is the one row it cannot hold: see Details.SettingUp.
var Positions = [...]Position{
	{BranchCreate, "branch-create", StageLockAcquired, []Stage{StageInit, StageLockAcquired}, ProgressPrePlanning, "create_branch", "making the branch", false},
	{EnvCreate, "env-create", StageLockAcquired, nil, ProgressPrePlanning, "open_environment", "making the environment", false},
	{DesignRead, "design-read", StagePlanning, nil, ProgressPrePlanning, "read_design", "reading the project's documents", true},
	{DesignCheck, "design-check", StagePlanning, nil, ProgressPlanning, "check_design_feasibility", "planning", true},
	{TDDRed, "tdd-red", StageImplementing, workStages, ProgressExecution, "write_tests", "writing failing tests", true},
	{TDDGreen, "tdd-green", StageImplementing, workStages, ProgressExecution, "implement", "implementing", false},
	{TDDRefactor, "tdd-refactor", StageImplementing, workStages, ProgressExecution, "refactor", "refactoring", true},
	{ReviewRequest, "review-request", StageTesting, nil, ProgressReflection, "request_review", "having the change reviewed", true},
	{ReviewFix, "review-fix", StageImplementing, workStages, ProgressReflection, "fix_review_issues", "mending what was found", true},
	{StressTest, "stress-test", StageTesting, nil, ProgressVerification, "run_stress_tests", "running the stress test", true},
	{ApprovalWait, "approval-wait", StageReporting, nil, ProgressVerification, "wait_approval", "waiting for approval", false},
	{PRCreate, "pr-create", StageReporting, nil, ProgressVerification, "create_pr", "opening the pull request", false},
	{CIWatch, "ci-watch", StageReporting, nil, ProgressVerification, "watch_ci", "testing the merge candidate", false},
	{MergeCleanup, "merge-cleanup", StageFinalizing, nil, ProgressComplete, "merge_and_cleanup", "merging", false},
	{ParentClose, "parent-close", StageFinalizing, []Stage{StageFinalizing, StageEnd}, ProgressComplete, "close_parent_issue", "closing the request", false},
}

var workStages = []Stage{StageImplementing, StageApplying, StageTesting}

// LastPhase is the highest Phase.
const LastPhase = ParentClose

// Position returns p's row; a number outside the table has the row of env-create, the
// phase from which unknown positions are resumed (SPEC, resolved contradictions).
func (p Phase) Position() Position {
	if p < 0 || p > LastPhase {
		return Positions[EnvCreate]
	}
	return Positions[p]
}

// Step is p's name.
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

// ProgressPhase is the run's place among the seven of P9.
func (r *Run) ProgressPhase() ProgressPhase {
	if r.State == Done {
		return ProgressComplete
	}
	if r.Details.SettingUp && r.Details.Phase != EnvCreate {
		return ProgressEnvironmentSetup
	}
	return r.Details.Phase.Position().Progress
}
