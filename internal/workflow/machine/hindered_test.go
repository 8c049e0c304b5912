package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

func TestARunIsHinderedByWhatIsNoFaultOfItsChange(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	fails := func(code string) act {
		return actionFails(workflow.Error{Category: workflow.CategoryGit, ReasonCode: code, Title: "no", Message: "no"}, 0)
	}
	for _, test := range []struct {
		name string
		acts []act
		want bool
	}{
		{"the checkout is in the way", []act{untilPhase(workflow.MergeCleanup), fails("CHECKOUT_IN_THE_WAY")}, true},
		{"the remote moved", []act{untilPhase(workflow.MergeCleanup), fails("REMOTE_MOVED")}, true},
		{"the forge is away while the pull request is opened", []act{untilPhase(workflow.PRCreate), fails("ACTION_FAILED")}, true},
		{"the forge is away while the checks are watched", []act{untilPhase(workflow.CIWatch), fails("ACTION_FAILED")}, true},
		{"the forge says nothing of its checks", []act{untilPhase(workflow.CIWatch), silent}, true},
		{"the environment cannot be made", []act{untilPhase(workflow.EnvCreate), fails("ACTION_FAILED")}, true},
		{"the disk is full while the agent works", []act{untilPhase(workflow.TDDGreen), fails("NO_SPACE")}, true},
		{"the agent's action fails", []act{untilPhase(workflow.TDDGreen), fails("ACTION_FAILED")}, false},
		{"the work is too large", []act{untilPhase(workflow.TDDGreen), fails(workflow.WorkTooLarge)}, false},
		{"the checks fail", []act{times(3, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed))}, false},
		{"a person is asked for consent", []act{untilPhase(workflow.ApprovalWait)}, false},
		{"the agent fails", []act{untilPhase(workflow.TDDGreen), times(3, agentFails("AGENT_HUNG"))}, false},
	} {
		run := lived(t, full, test.acts...)
		if run.Hindered() != test.want {
			t.Errorf("%s: hindered is %t at %s", test.name, run.Hindered(), where(run))
		}
	}
}
