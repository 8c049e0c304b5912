package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// openPlanning asks the planner, or makes the one-step plan of a workflow without one.
func (m *machine) openPlanning() {
	j := &m.run.Journey
	switch {
	case len(m.run.Steps) > 0:
		m.openSetUp()
	case j.Phases[DesignCheck].Status == StepSkipped:
		m.accept(Plan{Goal: m.run.Title, Actions: ActionPlan{Steps: []PlannedStep{{
			StepID: "S01", Title: m.run.Title, Role: Implementer, Phase: TDDGreen.Step(),
			Instructions: "Carry out the request."}}}})
	default:
		m.call(Action{Role: Planner})
	}
}

func (m *machine) planAnswered(e PlanAnswered) {
	problem := m.run.Journey.Settings.problemOf(&e.Plan)
	ambiguous := e.Plan.Design != nil && !e.Plan.Design.Feasible
	if ambiguous || problem == "" {
		m.forget(Planner) // what it left in the environment is taken away before the set-up
	}
	if design := e.Plan.Design; ambiguous {
		m.block(DesignAmbiguity, CategoryInput, DesignAmbiguityCode, firstOf(design.Description,
			strings.Join(design.AmbiguousPoints, "; "), "the planner could not tell what is wanted"), Advice(firstOf(design.SuggestedAction, "settle it in the request")))
		if m.run.Journey.Blocked != nil && len(design.AmbiguousPoints) > 0 {
			m.run.Journey.Blocked.Context = map[string]any{"ambiguous_points": design.AmbiguousPoints}
		}
		return
	}
	if problem != "" {
		m.answerRefused(AnswerRefused{Problems: []string{problem}, LogPath: e.LogPath})
		return
	}
	m.accept(e.Plan)
}

// problemOf is what a plan's schema cannot say; empty when the plan can be carried out.
func (s *Settings) problemOf(plan *Plan) string {
	switch env := plan.Environment; {
	case len(plan.Actions.Steps) == 0:
		return "action_plan.steps is empty"
	case env != nil && env.Name != "" && len(s.Environments) > 0 && !slices.Contains(s.Environments, env.Name):
		return fmt.Sprintf("selected_environment.name is %q, which is none of %s", env.Name, strings.Join(s.Environments, ", "))
	}
	return ""
}

// accept keeps the plan until it is on disk. A step of a phase that does no
// work, or that the workflow leaves out, is carried out with the implementation.
func (m *machine) accept(plan Plan) {
	steps := make([]PlannedStep, len(plan.Actions.Steps))
	for i, step := range plan.Actions.Steps {
		phase, ok := PhaseOf(step.Phase)
		if !ok || phase < TDDRed || phase > TDDRefactor || m.run.Journey.Settings.leavesOut(phase.Position()) != "" {
			step.Phase = TDDGreen.Step()
		}
		if step.Role == "" {
			step.Role = Implementer
		}
		steps[i] = step
	}
	plan.Actions.Steps = inPhaseOrder(steps)
	m.run.Journey.Plan = &plan
	m.run.Steps = nil // planning.json is about to change; steps[] follows it (R15)
	m.run.CurrentStepIndex = 0
	m.order(Action{Kind: WritePlan})
}

// inPhaseOrder lets no step go back behind an earlier one's phase.
func inPhaseOrder(steps []PlannedStep) []PlannedStep {
	latest := TDDRed
	for i := range steps {
		phase, _ := PhaseOf(steps[i].Phase)
		latest = max(latest, phase)
		steps[i].Phase = latest.Step()
	}
	return steps
}

func (m *machine) planWritten(e PlanWritten) {
	r, j := &m.run, &m.run.Journey
	if j.Plan == nil {
		return
	}
	r.Artifacts.PlanningJSON = &e.Path
	for _, planned := range j.Plan.Actions.Steps {
		r.Steps = append(r.Steps, Step{StepID: planned.StepID, Title: planned.Title, Role: planned.Role,
			Phase: planned.Phase, Status: StepPending, Attempt: 1, Test: j.Settings.untried()})
	}
	j.SetUp = j.chosenSetUp(j.Plan.Environment)
	j.Plan = nil
	m.openSetUp()
}

// answerRefused asks the same role again, telling it what was wrong, until the
// budget for that is used up.
func (m *machine) answerRefused(e AnswerRefused) {
	r, used := &m.run, &m.run.Journey.Used
	problems := strings.Join(e.Problems, "\n")
	if used.ContractRetries < r.Journey.Settings.Limits.ContractRetries {
		used.ContractRetries++
		r.Counters.Retries++
		m.callAgain(problems)
		return
	}
	if m.answered.Role == Repairer {
		m.setUpFailed("the answer to the repair request could not be used: " + problems)
		return
	}
	stop := m.problem(CategoryContract, ContractBrokenCode, "the "+string(m.answered.Role)+"'s answer cannot be used", problems)
	stop.RelatedPaths = paths(e.LogPath)
	stop.Next = []NextStep{r.Ask("read its answer", VerbLogs), r.Ask("then let it try again", VerbResume)}
	if m.answered.Role != Implementer {
		stop.Next = append(stop.Next, r.doWithout(m.answered.Role))
	}
	m.stop(stop)
}

// doWithout is what a person does about a role that its agent cannot do.
func (r *Run) doWithout(role Role) NextStep {
	return r.GiveUp("or give it up").Following(Advice(fmt.Sprintf("and do without a %[1]s: roles: {%[1]s: none}", role)))
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func paths(names ...string) (kept []string) {
	for _, n := range names {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return kept
}
