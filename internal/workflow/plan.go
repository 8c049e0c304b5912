package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is the document planning.json (SPEC P3): what the planner answered and
// Signalbox accepted.
type Plan struct {
	Phase       string       `json:"phase,omitempty"`
	Environment *PlanSetUp   `json:"selected_environment,omitempty"`
	Goal        string       `json:"goal_understanding"`
	Parts       []string     `json:"task_decomposition,omitempty"`
	Design      *Feasibility `json:"design_check,omitempty"`
	Actions     ActionPlan   `json:"action_plan"`
	Unknown     Unknown      `json:",embed"`
}

// PlanSetUp is the environment the planner chose and how to set it up.
type PlanSetUp struct {
	Name          string         `json:"name"`
	Reason        string         `json:"reason,omitempty"`
	DetectedFiles []string       `json:"detected_files,omitempty"`
	SetupCommands []string       `json:"setup_commands,omitempty"`
	Verification  []Verification `json:"verification,omitempty"`
	Unknown       Unknown        `json:",embed"`
}

// Feasibility is the planner's answer to "can this be built as described?".
type Feasibility struct {
	Feasible        bool     `json:"feasible"`
	Description     string   `json:"description,omitempty"`
	SuggestedAction string   `json:"suggested_action,omitempty"`
	AmbiguousPoints []string `json:"ambiguous_points,omitempty"`
	Unknown         Unknown  `json:",embed"`
}

// ActionPlan holds the steps in the order in which to carry them out.
type ActionPlan struct {
	Steps   []PlannedStep `json:"steps"`
	Unknown Unknown       `json:",embed"`
}

// PlannedStep is one step as planned; Step is the same one as carried out.
type PlannedStep struct {
	// StepID is S01, S02, … in order.
	StepID string `json:"step_id"`
	Title  string `json:"title"`
	// Role is the planner's word, or "implementer" without one; the implementer's agent carries out every step.
	Role Role `json:"role"`
	// Phase is tdd-red, tdd-green (the default) or tdd-refactor; phases never go back within a plan.
	Phase        StepName `json:"phase,omitempty"`
	Instructions string   `json:"instructions"`
	Unknown      Unknown  `json:",embed"`
}

// Review is what the reviewer answers; no findings means that it passed.
type Review struct {
	Summary  string    `json:"summary,omitempty"`
	Findings []Finding `json:"findings"`
	Unknown  Unknown   `json:",embed"`
}

// Repair is what the repairer answers (P6): the whole set-up, corrected.
type Repair struct {
	SetupCommands []string       `json:"setup_commands"`
	Verification  []Verification `json:"verification,omitempty"`
	Unknown       Unknown        `json:",embed"`
}

// ProblemOf is what a plan's schema cannot say; empty when the plan can be carried out.
func (s *Settings) ProblemOf(plan *Plan) string {
	switch env := plan.Environment; {
	case len(plan.Actions.Steps) == 0:
		return "action_plan.steps is empty"
	case env != nil && env.Name != "" && len(s.Environments) > 0 && !slices.Contains(s.Environments, env.Name):
		return fmt.Sprintf("selected_environment.name is %q, which is none of %s", env.Name, strings.Join(s.Environments, ", "))
	}
	return ""
}

// DoWithout is what a person does about a role that its agent cannot do. A command that only changes files does none of these roles.
func (r *Run) DoWithout(role Role, then Verb) NextStep {
	return Advice(fmt.Sprintf("or do without a %s: write roles: {planner: none, reviewer: none, repairer: none} in .signalbox/config.yaml, or as many of them as have no answer", role)).
		Following(r.Ask("then", then))
}
