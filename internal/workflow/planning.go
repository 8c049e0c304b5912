package workflow

import (
	"fmt"
	"slices"
	"strings"
)

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

// DoWithout is what a person does about a role that its agent cannot do.
func (r *Run) DoWithout(role Role) NextStep {
	return r.GiveUp("or give it up").Following(Advice(fmt.Sprintf("and do without a %[1]s: roles: {%[1]s: none}", role)))
}
