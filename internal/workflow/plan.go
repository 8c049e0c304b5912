package workflow

// Plan is the document planning.json: what the planner answered and Signalbox accepted. Steps in stage.json follow it.
type Plan struct {
	// Phase is the planner's own word for what the document is; nothing reads it.
	Phase string `json:"phase,omitempty"`
	// Environment is null if the plan leaves the environment to the project's files.
	Environment *PlanSetUp `json:"selected_environment,omitempty"`
	// Goal is the request in the planner's words.
	Goal  string   `json:"goal_understanding"`
	Parts []string `json:"task_decomposition,omitempty"`
	// Design stops the run if it says that the request cannot be built as described.
	Design  *Feasibility `json:"design_check,omitempty"`
	Actions ActionPlan   `json:"action_plan"`
	Unknown Unknown      `json:",embed"`
}

// PlanSetUp is the environment that the planner chose and how to set it up. Its commands are a model's: a person must agree to them before their
// tests count.
type PlanSetUp struct {
	// Name is one of Settings.Environments.
	Name          string         `json:"name"`
	Reason        string         `json:"reason,omitempty"`
	DetectedFiles []string       `json:"detected_files,omitempty"`
	SetupCommands []string       `json:"setup_commands,omitempty"`
	Verification  []Verification `json:"verification,omitempty"`
	Unknown       Unknown        `json:",embed"`
}

// Feasibility is the planner's answer to "can this be built as described?".
type Feasibility struct {
	// Feasible is false if a person must settle something first. The run stops with DESIGN_AMBIGUITY.
	Feasible        bool     `json:"feasible"`
	Description     string   `json:"description,omitempty"`
	SuggestedAction string   `json:"suggested_action,omitempty"`
	AmbiguousPoints []string `json:"ambiguous_points,omitempty"`
	Unknown         Unknown  `json:",embed"`
}

// ActionPlan holds the steps in the order in which they are carried out.
type ActionPlan struct {
	Steps   []PlannedStep `json:"steps"`
	Unknown Unknown       `json:",embed"`
}

// PlannedStep is one step as planned. Step is the same step as it is carried out.
type PlannedStep struct {
	// StepID is S01, S02, … in order.
	StepID string `json:"step_id"`
	Title  string `json:"title"`
	// Role is the planner's word, "implementer" without one. The implementer's agent carries out every step.
	Role Role `json:"role"`
	// Phase is tdd-red, tdd-green (the default) or tdd-refactor; phases never go back within a plan.
	Phase StepName `json:"phase,omitempty"`
	// Instructions go to the implementer as they are.
	Instructions string  `json:"instructions"`
	Unknown      Unknown `json:",embed"`
}

// Review is the reviewer's answer. Without findings, the change passed.
type Review struct {
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings"`
	Unknown  Unknown   `json:",embed"`
}

// Repair is the repairer's answer: the whole setup, corrected.
type Repair struct {
	SetupCommands []string       `json:"setup_commands"`
	Verification  []Verification `json:"verification,omitempty"`
	Unknown       Unknown        `json:",embed"`
}
