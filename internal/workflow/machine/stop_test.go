package machine

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

func TestActionsThatFail(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	again := func(n int) act { return times(n, actionFails(gitFailed, 0), well) }
	atEnvironment := untilPhase(workflow.EnvCreate)
	lasting := workflow.Error{Category: workflow.CategoryGit, ReasonCode: "CHECKOUT_IN_THE_WAY", Title: "in the way"}
	noSpace := workflow.Error{Category: workflow.CategoryEnvironment, ReasonCode: "NO_SPACE", Title: "no space", Message: "/ is full"}
	tell(t, []story{
		{"a passing failure is waited for", full, []act{atEnvironment, actionFails(gitFailed, 0)}, "RUNNING env-create wait 5s detect_environment"},
		{"twice as long the second time", full, []act{atEnvironment, again(1), actionFails(gitFailed, 0)}, "RUNNING env-create wait 10s detect_environment"},
		{"and as long as the other side asks", full, []act{atEnvironment, actionFails(gitFailed, time.Minute)}, "RUNNING env-create wait 1m0s detect_environment"},
		{"as long as the other side asks", full, []act{atEnvironment, actionFails(gitFailed, time.Hour)}, "RUNNING env-create wait 1h0m0s detect_environment"},
		{"a fifth failure asks a person", full, []act{atEnvironment, again(4), actionFails(gitFailed, 0)}, "NEEDS_INPUT env-create GIT_FAILED"},
		{"who grants the waits anew", full, []act{atEnvironment, again(4), actionFails(gitFailed, 0), resumed, actionFails(gitFailed, 0)},
			"RUNNING env-create wait 5s detect_environment"},
		{"the next phase has waits of its own", full, []act{atEnvironment, again(4), well, untilPhase(workflow.DesignRead), actionFails(gitFailed, 0)}, "RUNNING design-read wait 5s read_design"},
		{"a lasting failure asks a person at once", full, []act{atEnvironment, actionFails(lasting, 0)}, "NEEDS_INPUT env-create CHECKOUT_IN_THE_WAY"},
		{"and is tried again when it is settled", full, []act{atEnvironment, actionFails(lasting, 0), resumed}, "RUNNING env-create detect_environment"},
		{"a full disk blocks", full, []act{atEnvironment, actionFails(noSpace, 0)}, "NEEDS_INPUT env-create NO_SPACE"},
		{"resuming is no retry of a failed run", full, []act{untilPhase(workflow.TDDGreen), times(3, agentFails("AGENT_HUNG")), does(workflow.Resumed{})},
			"FAILED tdd-green AGENT_HUNG"},
		{"a retry is no answer to a question", full, []act{atEnvironment, actionFails(lasting, 0), does(workflow.Retried{})},
			"NEEDS_INPUT env-create CHECKOUT_IN_THE_WAY"},
	})
}

// Every way to be blocked says why in the published words, and is one in environments.json.
func TestBlockedReasons(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	fails := func(code string) act {
		return actionFails(workflow.Error{Category: workflow.CategoryEnvironment, ReasonCode: code, Title: "no", Message: "no"}, 0)
	}
	missing := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.DependenciesChecked{Outcome: o, Missing: []string{"41"}}
	})
	for _, test := range []struct {
		reason workflow.BlockedReason
		acts   []act
	}{
		{workflow.DesignAmbiguity, []act{untilPhase(workflow.DesignCheck), plans(workflow.Plan{Design: &workflow.Feasibility{AmbiguousPoints: []string{"int or UUID"}}})}},
		{workflow.ReviewLoopExceeded, []act{times(3, untilPhase(workflow.ReviewRequest), reviewFinds)}},
		{workflow.CIPersistentFailure, []act{times(3, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed))}},
		{workflow.DependencyMissing, []act{does(workflow.Admitted{}), missing}},
		{workflow.ResourceLimit, []act{untilPhase(workflow.TDDGreen), fails("NO_SPACE")}},
		{workflow.ResourceLimit, []act{untilPhase(workflow.TDDGreen), fails("OUT_OF_MEMORY")}},
		{workflow.ExternalBlocker, []act{untilPhase(workflow.CIWatch), fails("FORGE_UNAVAILABLE")}},
	} {
		run := lived(t, full, test.acts...)
		b := run.Details.Blocked
		switch {
		case run.State != workflow.NeedsInput || b == nil || b.Reason != test.reason:
			t.Errorf("%s: %s is blocked as %+v", test.reason, where(run), b)
		case b.Description == "" || b.Next == nil || b.Context == nil || !b.BlockedAt.Equal(epoch):
			t.Errorf("%s leaves something open: %+v", test.reason, b)
		case run.Error.Title == "" || run.Error.Severity != workflow.Blocker:
			t.Errorf("%s is told as %+v", test.reason, run.Error)
		case !reflect.DeepEqual(run.Error.Next[0], *b.Next):
			t.Errorf("%s suggests %+v but the run says %+v", test.reason, *b.Next, run.Error.Next[0])
		}
	}
}

func TestAFailureSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), times(3, agentFails("AGENT_HUNG")))
	told := allSaid(run.Error)
	if !run.Error.Retryable || !strings.Contains(told, "retry 42") || !strings.Contains(told, "logs 42") {
		t.Errorf("the failure says %+v", run.Error)
	}
	if got := run.Error.Title; got != "the implementer printed nothing for too long" {
		t.Errorf("the title is %q", got)
	}
	if step := run.Steps[1]; step.Status != workflow.StepFailed || step.Error == nil || step.EndedAt == nil {
		t.Errorf("the step in hand is shown as %+v", step)
	}
	run = does(workflow.Retried{})(t, run)
	if step := run.Steps[1]; step.Status != workflow.StepRunning || step.Error != nil || step.EndedAt != nil || run.Counters.Retries != 3 {
		t.Errorf("after the retry the step is shown as %+v, %d retries", step, run.Counters.Retries)
	}
}
