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
		if run.State != workflow.Failed || strings.Contains(told, "do without a planner: roles: {planner: none}") != c.want {
			t.Errorf("%s: %s, and to be done is\n%s", c.code, run.State, told)
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
