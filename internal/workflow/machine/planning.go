package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow"
)

// planAnswered accepts the plan, stops if the request is ambiguous, or asks again for a plan that can't be carried out.
func (m *machine) planAnswered(e workflow.PlanAnswered) {
	j := &m.run.Details
	design, environments := e.Plan.Design, j.Settings.Environments
	problem := "" // what the schema of plans can't express
	switch env := e.Plan.Environment; {
	case len(e.Plan.Actions.Steps) == 0:
		problem = "action_plan.steps is empty"
	case env != nil && env.Name != "" && len(environments) > 0 && !slices.Contains(environments, env.Name):
		problem = fmt.Sprintf("selected_environment.name is %q, which is none of %s", env.Name, strings.Join(environments, ", "))
	}
	ambiguous := design != nil && !design.Feasible
	if ambiguous || problem == "" {
		m.forget(workflow.Planner) // its files are removed from the environment before the setup
	}
	switch {
	case ambiguous:
		m.block(workflow.DesignAmbiguity, workflow.CategoryInput, workflow.DesignAmbiguityCode, cmp.Or(design.Description,
			strings.Join(design.AmbiguousPoints, "; "), "the planner could not tell what is wanted"), workflow.Advice(cmp.Or(design.SuggestedAction, "settle it in the request")))
		if j.Blocked != nil && len(design.AmbiguousPoints) > 0 {
			j.Blocked.Context = map[string]any{"ambiguous_points": design.AmbiguousPoints}
		}
	case problem != "":
		m.answerRefused(workflow.AnswerRefused{Problems: []string{problem}, LogPath: e.LogPath})
	default:
		m.accept(e.Plan)
	}
}

// accept keeps the plan until it is on disk. A step whose phase does no work, or that the workflow leaves out, is
// carried out with the implementation.
func (m *machine) accept(plan workflow.Plan) {
	steps := make([]workflow.PlannedStep, len(plan.Actions.Steps))
	latest := workflow.TDDRed // no step goes back behind an earlier one's phase
	for i, step := range plan.Actions.Steps {
		phase, ok := workflow.PhaseOf(step.Phase)
		if !ok || phase < workflow.TDDRed || phase > workflow.TDDRefactor || m.run.Details.Settings.LeavesOut(phase.Position()) != "" {
			phase = workflow.TDDGreen
		}
		latest = max(latest, phase)
		step.Phase = latest.Step()
		if step.Role == "" {
			step.Role = workflow.Implementer
		}
		steps[i] = step
	}
	plan.Actions.Steps = steps
	m.run.Details.Plan = &plan
	m.run.Steps = nil // they must follow planning.json, which is about to change
	m.run.CurrentStepIndex = 0
	m.order(workflow.Action{Kind: workflow.WritePlan})
}
