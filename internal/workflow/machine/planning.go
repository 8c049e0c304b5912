package machine

import (
	"cmp"
	"strings"

	"signalbox/internal/workflow"
)

// openPlanning asks the planner, or makes the one-step plan of a workflow without one.
func (m *machine) openPlanning() {
	j := &m.run.Details
	switch {
	case len(m.run.Steps) > 0:
		m.openSetUp()
	case j.Phases[workflow.DesignCheck].Status == workflow.StepSkipped:
		m.accept(workflow.Plan{Goal: m.run.Title, Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{
			StepID: "S01", Title: m.run.Title, Role: workflow.Implementer, Phase: workflow.TDDGreen.Step(),
			Instructions: "Carry out the request."}}}})
	default:
		m.call(workflow.Action{Role: workflow.Planner})
	}
}

func (m *machine) planAnswered(e workflow.PlanAnswered) {
	problem := m.run.Details.Settings.ProblemOf(&e.Plan)
	ambiguous := e.Plan.Design != nil && !e.Plan.Design.Feasible
	if ambiguous || problem == "" {
		m.forget(workflow.Planner) // what it left in the environment is taken away before the set-up
	}
	if design := e.Plan.Design; ambiguous {
		m.block(workflow.DesignAmbiguity, workflow.CategoryInput, workflow.DesignAmbiguityCode, cmp.Or(design.Description,
			strings.Join(design.AmbiguousPoints, "; "), "the planner could not tell what is wanted"), workflow.Advice(cmp.Or(design.SuggestedAction, "settle it in the request")))
		if m.run.Details.Blocked != nil && len(design.AmbiguousPoints) > 0 {
			m.run.Details.Blocked.Context = map[string]any{"ambiguous_points": design.AmbiguousPoints}
		}
		return
	}
	if problem != "" {
		m.answerRefused(workflow.AnswerRefused{Problems: []string{problem}, LogPath: e.LogPath})
		return
	}
	m.accept(e.Plan)
}

// accept keeps the plan until it is on disk. A step of a phase that does no
// work, or that the workflow leaves out, is carried out with the implementation.
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
	m.run.Steps = nil // planning.json is about to change; steps[] follows it (R15)
	m.run.CurrentStepIndex = 0
	m.order(workflow.Action{Kind: workflow.WritePlan})
}

func (m *machine) planWritten(e workflow.PlanWritten) {
	r, j := &m.run, &m.run.Details
	if j.Plan == nil {
		return
	}
	r.Artifacts.PlanningJSON = &e.Path
	for _, planned := range j.Plan.Actions.Steps {
		r.Steps = append(r.Steps, workflow.Step{StepID: planned.StepID, Title: planned.Title, Role: planned.Role,
			Phase: planned.Phase, Status: workflow.StepPending, Attempt: 1, Test: j.Settings.Untried()})
	}
	j.SetUp = j.ChosenSetUp(j.Plan.Environment)
	j.Plan = nil
	m.openSetUp()
}

// answerRefused asks the same role again, telling it what was wrong, until the
// budget for that is used up.
func (m *machine) answerRefused(e workflow.AnswerRefused) {
	r, used := &m.run, &m.run.Details.Used
	problems := strings.Join(e.Problems, "\n")
	if used.ContractRetries < r.Details.Settings.Limits.ContractRetries {
		used.ContractRetries++
		r.Counters.Retries++
		m.callAgain(problems)
		return
	}
	if m.answered.Role == workflow.Repairer {
		m.setUpFailed("the answer to the repair request could not be used: " + problems)
		return
	}
	stop := m.problem(workflow.CategoryContract, workflow.ContractBrokenCode, "the "+string(m.answered.Role)+"'s answer cannot be used", problems)
	stop.RelatedPaths = paths(e.LogPath)
	stop.Next = []workflow.NextStep{r.Ask("read its answer", workflow.VerbLogs), r.Ask("then let it try again", workflow.VerbResume)}
	if m.answered.Role != workflow.Implementer {
		stop.Next = append(stop.Next, r.DoWithout(m.answered.Role))
	}
	m.stop(stop)
}

func paths(names ...string) (kept []string) {
	for _, n := range names {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return kept
}
