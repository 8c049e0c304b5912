package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

func TestOrdersOfPeople(t *testing.T) {
	t.Parallel()
	full, asked := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, false)
	stops, cancels := does(workflow.StopRequested{}), does(workflow.StopRequested{Cancel: true})
	ready := untilPhase(workflow.LastPhase) // which stops for the approval on the way
	approves := func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		return does(workflow.Approved{Commit: run.Details.Head, By: "ada"})(t, run)
	}
	tell(t, []story{
		{"a run is wanted for its environment alone", full, []act{untilPhase(workflow.DesignRead), does(workflow.Prepared{})}, "NEEDS_INPUT design-read PREPARED"},
		{"and itself begins as any other", full, []act{untilPhase(workflow.DesignRead), does(workflow.Prepared{}), resumed}, "RUNNING branch-create check_dependencies"},
		{"unless it has a change", full, []act{untilPhase(workflow.ReviewRequest), does(workflow.Prepared{}), resumed}, "RUNNING review-request call_agent reviewer"},
		{"a run whose process was told to end keeps what is pending", full, []act{untilPhase(workflow.TDDGreen), does(workflow.Interrupted{})}, "NEEDS_INPUT tdd-green INTERRUPTED"},
		{"and goes on with it", full, []act{untilPhase(workflow.TDDGreen), does(workflow.Interrupted{}), resumed}, "RUNNING tdd-green call_agent S02/1"},
		{"one that made nothing yet is not canceled by that", full, []act{does(workflow.Interrupted{})}, "NEEDS_INPUT branch-create INTERRUPTED"},
		{"its budgets are not granted anew", full, []act{untilPhase(workflow.TDDGreen), times(2, agentFails("AGENT_HUNG")), does(workflow.Interrupted{}), resumed, agentFails("AGENT_HUNG")},
			"FAILED tdd-green AGENT_HUNG"},
		{"a stopped run keeps what is pending", full, []act{untilPhase(workflow.TDDGreen), stops}, "NEEDS_INPUT tdd-green STOP_REQUESTED"},
		{"a resumed run performs it", full, []act{untilPhase(workflow.TDDGreen), stops, resumed}, "RUNNING tdd-green call_agent S02/1"},
		{"a stop during a wait keeps the wait and what it is for", full, []act{untilPhase(workflow.EnvCreate), actionFails(gitFailed, 0), stops, resumed},
			"RUNNING env-create wait 5s detect_environment"},
		{"a queued run that made nothing is canceled by a stop", full, []act{stops}, "CANCELED branch-create"},
		{"a queued run that made a branch is kept by a stop", full, []act{untilPhase(workflow.EnvCreate), does(workflow.Waiting{For: "a slot"}), stops},
			"NEEDS_INPUT env-create STOP_REQUESTED"},
		{"a run that lost its slot waits with what is pending", full, []act{untilPhase(workflow.TDDGreen), does(workflow.Waiting{For: "a slot"})},
			"QUEUED tdd-green call_agent S02/1"},

		{"cancel ends a run that made nothing", full, []act{does(workflow.Admitted{}), cancels}, "CANCELED branch-create"},
		{"cancel puts away what was made", full, []act{untilPhase(workflow.TDDGreen), cancels}, "RUNNING tdd-green remove_environment"},
		{"cancel closes the pull request first", full, []act{untilPhase(workflow.CIWatch), cancels}, "RUNNING ci-watch close_pull_request"},
		{"and the environment after that", full, []act{untilPhase(workflow.CIWatch), cancels, well}, "RUNNING ci-watch remove_environment"},
		{"what was put away is canceled", full, []act{untilPhase(workflow.CIWatch), cancels, well, well}, "CANCELED ci-watch"},
		{"putting away survives a crash", full, []act{untilPhase(workflow.CIWatch), cancels, crash, well, crash, well}, "CANCELED ci-watch"},
		{"a stopped run is canceled through the queue", full, []act{untilPhase(workflow.TDDGreen), stops, cancels}, "QUEUED tdd-green"},
		{"and then put away", full, []act{untilPhase(workflow.TDDGreen), stops, cancels, toTheEnd}, "CANCELED tdd-green"},
		{"a failed run can be canceled", full, []act{untilPhase(workflow.TDDGreen), times(3, agentFails("AGENT_HUNG")), cancels, toTheEnd}, "CANCELED tdd-green"},
		{"what is merged is not given up", full, []act{untilPhase(workflow.MergeCleanup), well, cancels}, "RUNNING merge-cleanup remove_environment"},

		{"a change waits for approval", asked, []act{ready}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"an approved change is published", asked, []act{ready, approves, does(workflow.Admitted{})}, "RUNNING pr-create open_pull_request"},
		{"an approval of another commit is not taken", asked, []act{ready, does(workflow.Approved{Commit: "c0001", By: "ada"})},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"an approval of no commit is not taken", asked, []act{ready, does(workflow.Approved{By: "ada"})}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"an approval before the change is ready is not taken", asked, []act{untilAction(workflow.RunTests), approves, ready},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"a resumed run that waits for approval waits on", asked, []act{ready, resumed}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"a rejected change goes back to the implementer", asked, []act{ready, does(workflow.Rejected{Reason: "too clever"}), does(workflow.Admitted{})},
			"RUNNING review-fix call_agent R01/1"},
		{"and waits for approval again when it is mended", asked, []act{ready, does(workflow.Rejected{Reason: "too clever"}), ready},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"an approval does not hold for what was mended after it", asked, []act{ready, approves, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed), ready},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"an approval holds when only the base branch moved", asked, []act{ready, approves, untilPhase(workflow.MergeCleanup), baseMoves, toTheEnd},
			"DONE parent-close"},
	})
}

func TestWhatAPersonAskedForIsToldToTheImplementer(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowSimple, false), toTheEnd, does(workflow.Rejected{Reason: "too clever"}), does(workflow.Admitted{}))
	if f := run.Details.Findings; len(f) != 1 || f[0].Source != "person" || f[0].Text != "too clever" {
		t.Errorf("the findings are %+v", f)
	}
}

func TestOrdersAreAcknowledged(t *testing.T) {
	t.Parallel()
	for kind, event := range map[workflow.CommandKind]workflow.Event{workflow.CommandCancel: workflow.StopRequested{Cancel: true}, workflow.CommandApprove: workflow.Approved{Commit: "c"},
		workflow.CommandReject: workflow.Rejected{}, workflow.CommandRetry: workflow.Retried{}} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
		run.Signals = workflow.Signals{StopRequested: true, ResumeRequested: true, Commands: []workflow.Command{{ID: "1", Kind: kind}, {ID: "2", Kind: "other"}}}
		after := does(event)(t, run)
		if c := after.Signals.Commands; len(c) != 1 || c[0].ID != "2" {
			t.Errorf("%s leaves %+v", kind, c)
		}
		if !after.Signals.ResumeRequested {
			t.Errorf("%s took a signal that is not its own", kind)
		}
	}
	run := newRun(ordinary(workflow.WorkflowFull, true))
	run.Signals = workflow.Signals{StopRequested: true, ResumeRequested: true}
	if after := does(workflow.Resumed{})(t, run); after.Signals.ResumeRequested || !after.Signals.StopRequested {
		t.Errorf("resume leaves %+v", after.Signals)
	}
}
