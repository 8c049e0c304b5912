package machine

import (
	"testing"

	"signalbox/internal/workflow"
)

func TestPublishing(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	failing := times(1, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed))
	conflict := times(1, untilPhase(workflow.CIWatch), checks(workflow.ChecksConflict))
	tell(t, []story{
		{"failed checks send the change back", full, []act{failing}, "RUNNING review-fix call_agent R01/1"},
		{"what was mended is offered and checked again", full, []act{failing, untilPhase(workflow.CIWatch)}, "RUNNING ci-watch watch_checks"},
		{"three failures of the checks in a row block", full, []act{times(3, failing)}, "NEEDS_INPUT review-fix CI_PERSISTENT_FAILURE"},
		{"a pass in between starts the count anew", full, []act{failing, failing, untilPhase(workflow.CIWatch), checks(workflow.ChecksPassed), baseMoves, failing, failing},
			"RUNNING review-fix call_agent R04/1"},
		{"a blocked run is mended when it is resumed", full, []act{times(3, failing), resumed}, "RUNNING review-fix call_agent R03/1"},
		{"silent checks ask a person", full, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksSilent)}, "NEEDS_INPUT ci-watch CHECKS_SILENT"},
		{"and are watched again", full, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksSilent), resumed}, "RUNNING ci-watch watch_checks"},
		{"a conflict starts over once", full, []act{conflict}, "RUNNING branch-create check_dependencies"},
		{"with the plan that there is", full, []act{conflict, untilPhase(workflow.TDDRed)}, "RUNNING tdd-red call_agent S01/2"},
		{"and then asks", full, []act{conflict, conflict}, "NEEDS_INPUT ci-watch MERGE_CONFLICT"},
		{"who resumes it starts over once more", full, []act{conflict, conflict, resumed, checks(workflow.ChecksConflict)},
			"RUNNING branch-create check_dependencies"},
		{"what passed is merged", full, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksPassed)}, "RUNNING merge-cleanup merge_pull_request"},
		{"a base branch that moved is checked against", full, []act{untilPhase(workflow.MergeCleanup), baseMoves}, "RUNNING ci-watch watch_checks"},
		{"after the merge the environment is put away", full, []act{untilPhase(workflow.MergeCleanup), well}, "RUNNING merge-cleanup remove_environment"},
		{"a stop after the merge goes on with the putting away", full, []act{untilPhase(workflow.MergeCleanup), well, does(workflow.StopRequested{}), resumed},
			"RUNNING merge-cleanup remove_environment"},
		{"then the request is closed", full, []act{untilPhase(workflow.MergeCleanup), well, well}, "RUNNING parent-close close_request"},
	})
}

func TestStartingOverKeepsNoConsent(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, false), toTheEnd)
	run = does(workflow.Approved{Commit: run.Details.Head})(t, run)
	run = checks(workflow.ChecksConflict)(t, untilPhase(workflow.CIWatch)(t, run))
	if run.Details.Approval != nil || run.CurrentStepIndex != 0 {
		t.Errorf("approval %+v and step %d are kept", run.Details.Approval, run.CurrentStepIndex)
	}
	for _, s := range run.Steps {
		if s.Status != workflow.StepPending || s.Attempt != 2 || s.StartedAt != nil {
			t.Errorf("step %s is %s, attempt %d", s.StepID, s.Status, s.Attempt)
		}
	}
}

func TestChecksAreEvidenceForWhatTheySaw(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.CIWatch), checks(workflow.ChecksPassed))
	last := run.Details.Evidence[len(run.Details.Evidence)-1]
	if last.Purpose != "merge candidate" || !last.Passed || last.Commit != run.Details.Head || last.Tree != "t1" {
		t.Errorf("the evidence is %+v", last)
	}
	if c := run.Details.PullRequest.Checked; c == nil || c.Head != run.Details.Head {
		t.Errorf("the candidate is %+v", c)
	}
	run = untilPhase(workflow.CIWatch)(t, checks(workflow.ChecksFailed)(t, baseMoves(t, run)))
	if c := run.Details.PullRequest.Checked; c != nil {
		t.Errorf("a mended change still counts as checked: %+v", c)
	}
}
