package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestARoleThatItsAgentNeverAnswersInMayBeLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code string
		want bool
	}{{"AGENT_NO_ANSWER", true}, {"AGENT_FAILED", false}} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), times(3, agentFails(c.code)))
		told := allSaid(run.Error)
		if run.State != workflow.Failed || strings.Contains(told, "do without a planner: write roles: {planner: none, reviewer: none, repairer: none}") != c.want {
			t.Errorf("%s: %s, and to be done is\n%s", c.code, run.State, told)
		}
	}
}

// A person who leaves the role out of the configuration need not give the run up.
func TestARunIsTriedAgainWithoutTheRoleThatNeverAnswered(t *testing.T) {
	t.Parallel()
	without := ordinary(workflow.WorkflowFull, true)
	without.HasPlanner, without.HasReviewer, without.NoRepairer = false, false, true
	untilRole := func(role workflow.Role) act {
		return until(func(run workflow.Run) bool {
			a := run.Details.Pending[0]
			return a.Kind == workflow.CallAgent && a.Role == role
		})
	}
	noAnswer := times(3, agentFails("AGENT_NO_ANSWER"))
	refused := times(3, answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.AnswerRefused{Outcome: o, Problems: []string{"no answer"}}
	}))
	for _, c := range []struct {
		name   string
		role   workflow.Role
		fails  act
		again  workflow.Event
		phases []workflow.Phase // those that are skipped
	}{
		{"the planner", workflow.Planner, noAnswer, workflow.Retried{}, []workflow.Phase{workflow.DesignCheck, workflow.ReviewRequest}},
		{"the reviewer", workflow.Reviewer, noAnswer, workflow.Retried{}, []workflow.Phase{workflow.ReviewRequest}},
		{"a planner whose answers are none", workflow.Planner, refused, workflow.Resumed{}, []workflow.Phase{workflow.DesignCheck, workflow.ReviewRequest}},
		{"a reviewer whose answers are none", workflow.Reviewer, refused, workflow.Resumed{}, []workflow.Phase{workflow.ReviewRequest}},
	} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), untilRole(c.role), c.fails, does(c.again), does(workflow.Admitted{Epoch: 2, Settings: &without}))
		before := run.Counters
		run = toTheEnd(t, run)
		if run.State != workflow.Done || run.Counters.PlannerCalls != before.PlannerCalls || run.Counters.QACalls != before.QACalls {
			t.Errorf("%s: %s, %+v before and %+v after", c.name, where(run), before, run.Counters)
		}
		for _, phase := range c.phases {
			if record := run.Details.Phases[phase]; record.Status != workflow.StepSkipped || record.Note == "" {
				t.Errorf("%s: %s is %s, %q", c.name, record.Step, record.Status, record.Note)
			}
		}
	}
}

func TestAnAgentThatCannotBeUsedIsNoAttempt(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"AGENT_UNAVAILABLE": true, "AGENT_UNAUTHORIZED": true, "AGENT_REQUEST_REFUSED": true, "AGENT_FAILED": false, "AGENT_NO_ANSWER": false} {
		calls := map[bool]int{true: 1, false: 3}[want]
		run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), times(calls, agentFails(code)))
		if (run.State == workflow.NeedsInput) != want || run.Error.Unusable() != want {
			t.Errorf("%s: %s, unusable: %t", code, run.State, run.Error.Unusable())
		}
	}
}
