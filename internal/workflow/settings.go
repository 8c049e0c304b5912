package workflow

import (
	"fmt"
	"slices"
	"strings"
)

// The workflows. A workflow is the set of optional phases that it includes; the other phases always run.
const (
	WorkflowFull   = "full"   // every phase
	WorkflowSimple = "simple" // implement, test, merge
	WorkflowHeal   = "heal"   // plan, implement, test, merge: the repairs of "signalbox heal"
	WorkflowCustom = "custom" // the phases that the configuration lists
)

// WorkflowPhases returns the optional phases of a workflow: a built-in name, or a list of step names. Naming a phase that is not optional is allowed
// and changes nothing.
func WorkflowPhases(names ...string) (workflow string, phases []StepName, err error) {
	if len(names) == 1 {
		switch names[0] {
		case WorkflowSimple:
			return WorkflowSimple, []StepName{}, nil
		case WorkflowFull:
			return WorkflowFull, OptionalSteps(), nil
		case WorkflowHeal:
			return WorkflowHeal, []StepName{DesignRead.Step(), DesignCheck.Step()}, nil
		}
	}
	for _, name := range names {
		if _, ok := PhaseOf(StepName(name)); !ok {
			return "", nil, fmt.Errorf("workflow names %q, which is neither %q nor %q nor a phase (%s)",
				name, WorkflowFull, WorkflowSimple, strings.Join(StepNames(), ", "))
		}
		phases = append(phases, StepName(name))
	}
	return WorkflowCustom, phases, nil
}

// OptionalSteps returns the steps that a workflow may leave out.
func OptionalSteps() (steps []StepName) {
	for _, row := range Positions {
		if row.Optional {
			steps = append(steps, row.Step)
		}
	}
	return steps
}

// StepNames returns every step's name, in order.
func StepNames() (names []string) {
	for _, row := range Positions {
		names = append(names, string(row.Step))
	}
	return names
}

// LeavesOut says why the settings skip a phase in any case; empty if they don't.
func (s *Settings) LeavesOut(row Position) string {
	switch {
	case row.Phase == ReviewFix: // entered if there is something to fix, in every workflow
		return ""
	case row.Optional && !slices.Contains(s.Phases, row.Step):
		return fmt.Sprintf("not in the workflow %q", s.Workflow)
	case row.Phase == DesignRead && !s.HasPlanner:
		return "no agent is configured as planner"
	case row.Phase == DesignCheck && !s.HasPlanner:
		return "no agent is configured as planner: one step, the whole request"
	case row.Phase == ReviewRequest && !s.HasReviewer:
		return "no agent is configured as reviewer"
	case row.Phase == StressTest && s.Stress == "":
		return "no stress test is configured"
	}
	return ""
}
