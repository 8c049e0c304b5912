package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

func TestReview(t *testing.T) {
	t.Parallel()
	full, unreviewed := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, true)
	unreviewed.HasReviewer = false
	round := times(1, untilPhase(workflow.ReviewRequest), reviewFinds)
	stressFails := times(1, untilPhase(workflow.StressTest), testsFail)
	workflowFile := policy.FileChange{Path: ".github/workflows/ci.yml", NewMode: "100644", Added: 1}
	flagged := times(1, untilPhase(workflow.TDDGreen), well, changes(workflowFile))
	tell(t, []story{
		{"a finding sends the change back", full, []act{round}, "RUNNING review-fix call_agent R01/1"},
		{"what was mended is reviewed again", full, []act{round, untilPhase(workflow.ReviewRequest)}, "RUNNING review-request call_agent reviewer"},
		{"a second failed review is a second mend", full, []act{round, round}, "RUNNING review-fix call_agent R02/1"},
		{"a third failed review stops for a person", full, []act{times(3, round)}, "NEEDS_INPUT review-fix REVIEW_LOOP_EXCEEDED"},
		{"who resumes it has the findings mended", full, []act{times(3, round), resumed}, "RUNNING review-fix call_agent R03/1"},
		{"and grants three rounds anew", full, []act{times(3, round), resumed, times(2, round)}, "RUNNING review-fix call_agent R05/1"},
		{"a failed stress test is a round", full, []act{round, round, stressFails}, "NEEDS_INPUT review-fix REVIEW_LOOP_EXCEEDED"},
		{"without a reviewer a mend goes on to the stress test", unreviewed, []act{stressFails, untilPhase(workflow.StressTest)},
			"RUNNING stress-test run_tests"},
		{"an answer that breaks the contract is asked for again", full, []act{untilPhase(workflow.ReviewRequest), answerIsRefused},
			"RUNNING review-request call_agent reviewer"},
		{"a third one stops for a person", full, []act{untilPhase(workflow.ReviewRequest), times(3, answerIsRefused)},
			"NEEDS_INPUT review-request CONTRACT_BROKEN"},
		{"a change to .github needs a person even where approval is automatic", full, []act{flagged, toTheEnd},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
	})
}

func TestAFailedReviewIsClosedWhileItsFindingsAreMended(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.ReviewRequest), reviewFinds)
	if record := run.Details.Phases[workflow.ReviewRequest]; record.Status != workflow.StepDone || record.Note != "1 finding" {
		t.Errorf("review-request is shown as %s, %q", record.Status, record.Note)
	}
	if f := run.Details.Findings; len(f) != 1 || f[0].Source != "review" {
		t.Errorf("the findings are %+v", f)
	}
	run = untilPhase(workflow.StressTest)(t, run)
	if len(run.Details.Findings) != 0 || run.Details.Phases[workflow.ReviewRequest].Note != "passed" {
		t.Errorf("after the mend: %+v, note %q", run.Details.Findings, run.Details.Phases[workflow.ReviewRequest].Note)
	}
}

func TestAPersonIsToldWhyTheyMustLook(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well,
		changes(policy.FileChange{Path: ".github/workflows/ci.yml"}, policy.FileChange{Path: ".gitattributes"}, policy.FileChange{Path: "link", NewMode: "120000"}), toTheEnd)
	for _, part := range []string{".github/workflows/ci.yml, it changes .gitattributes and it adds the symbolic link link"} {
		if !strings.Contains(run.Error.Message, part) {
			t.Errorf("the message is %q", run.Error.Message)
		}
	}
	for i, word := range []string{"diff 42", "approve 42", "reject 42"} {
		if !strings.Contains(said(run.Error.Next[i]), word) {
			t.Errorf("step %d is %q", i, said(run.Error.Next[i]))
		}
	}
}
