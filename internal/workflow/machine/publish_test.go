package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

func TestPublishing(t *testing.T) {
	t.Parallel()
	full, asked := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, false)
	failing := times(1, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed))
	conflict := times(1, untilPhase(workflow.CIWatch), checks(workflow.ChecksConflict))
	pending := times(1, untilPhase(workflow.CIWatch), checks(workflow.ChecksPending))
	waitedTooLong := func(_ *testing.T, run workflow.Run) workflow.Run {
		since := run.Details.Used.ChecksSince.Add(-time.Duration(run.Details.Settings.Limits.ChecksTotalSec) * time.Second)
		run.Details.Used.ChecksSince = &since
		return run
	}
	tell(t, []story{
		{"failed checks send the change back", full, []act{failing}, "RUNNING review-fix call_agent R01/1"},
		{"what was mended is offered and checked again", full, []act{failing, untilPhase(workflow.CIWatch)}, "RUNNING ci-watch watch_checks"},
		{"three failures of the checks in a row block", full, []act{times(3, failing)}, "NEEDS_INPUT review-fix CI_PERSISTENT_FAILURE"},
		{"a pass in between starts the count anew", full, []act{failing, failing, untilPhase(workflow.CIWatch), checks(workflow.ChecksPassed), baseMoves, failing, failing},
			"RUNNING review-fix call_agent R04/1"},
		{"a blocked run is mended when it is resumed", full, []act{times(3, failing), resumed}, "RUNNING review-fix call_agent R03/1"},
		{"silent checks get some time", full, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksSilent)}, "RUNNING ci-watch wait 5s watch_checks"},
		{"then they ask a person", full, []act{untilPhase(workflow.CIWatch), silent}, "NEEDS_INPUT ci-watch CHECKS_SILENT"},
		{"and get it again", full, []act{untilPhase(workflow.CIWatch), silent, resumed, checks(workflow.ChecksSilent)}, "RUNNING ci-watch wait 5s watch_checks"},
		{"pending checks are waited for", full, []act{pending}, "RUNNING ci-watch wait 5s watch_checks"},
		{"and looked at again", full, []act{pending, well}, "RUNNING ci-watch watch_checks"},
		{"at once where something happened on the forge", full, []act{pending, does(workflow.Woken{})}, "RUNNING ci-watch watch_checks"},
		{"however often", full, []act{pending, times(9, well, checks(workflow.ChecksPending)), well, checks(workflow.ChecksPassed)}, "RUNNING merge-cleanup merge_pull_request"},
		{"but not for ever", full, []act{pending, well, waitedTooLong, checks(workflow.ChecksPending)}, "NEEDS_INPUT ci-watch CHECKS_SILENT"},
		{"unless a person says so", full, []act{pending, well, waitedTooLong, checks(workflow.ChecksPending), resumed, checks(workflow.ChecksPending)}, "RUNNING ci-watch wait 5s watch_checks"},
		{"those of another candidate have their own time", full, []act{pending, well, waitedTooLong, checks(workflow.ChecksPassed), baseMoves, checks(workflow.ChecksPending)}, "RUNNING ci-watch wait 5s watch_checks"},
		{"a conflict goes to the agent once", full, []act{conflict}, "RUNNING review-fix merge_base"},
		{"no step is paid for again", full, []act{conflict, moved, toTheEnd}, "DONE parent-close"},
		{"and then asks", full, []act{conflict, moved, conflict}, "NEEDS_INPUT ci-watch MERGE_CONFLICT"},
		{"who resumes it has it checked, and resolved, once more", full, []act{conflict, moved, conflict, resumed, checks(workflow.ChecksConflict)},
			"RUNNING review-fix merge_base"},
		{"of a change that a person approved, nothing is done again", asked, []act{toTheEnd, approvesHead, conflict}, "NEEDS_INPUT ci-watch MERGE_CONFLICT"},
		{"until the person says so", asked, []act{toTheEnd, approvesHead, conflict, syncs}, "RUNNING review-fix merge_base"},
		{"or has resolved it", asked, []act{toTheEnd, approvesHead, conflict, resumed}, "RUNNING ci-watch watch_checks"},
		{"what passed is merged", full, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksPassed)}, "RUNNING merge-cleanup merge_pull_request"},
		{"a base branch that moved is checked against", full, []act{untilPhase(workflow.MergeCleanup), baseMoves}, "RUNNING ci-watch watch_checks"},
		{"after the merge the environment is put away", full, []act{untilPhase(workflow.MergeCleanup), well}, "RUNNING merge-cleanup remove_environment"},
		{"a stop after the merge goes on with the putting away", full, []act{untilPhase(workflow.MergeCleanup), well, does(workflow.StopRequested{}), resumed},
			"RUNNING merge-cleanup remove_environment"},
		{"what the forge merged untested is for a person to look at", full, []act{untilPhase(workflow.MergeCleanup), mergesUntested}, "NEEDS_INPUT merge-cleanup MERGED_UNTESTED"},
		{"who says so once", full, []act{untilPhase(workflow.MergeCleanup), mergesUntested, resumed}, "RUNNING merge-cleanup remove_environment"},
		{"and the request is closed", full, []act{untilPhase(workflow.MergeCleanup), mergesUntested, resumed, toTheEnd}, "DONE parent-close"},
		{"what someone merged is not given up any more", full, []act{untilPhase(workflow.CIWatch), does(workflow.StopRequested{Cancel: true}), merges}, "RUNNING merge-cleanup remove_environment"},
		{"but ends as it does", full, []act{failing, does(workflow.StopRequested{Cancel: true}), merges, toTheEnd}, "DONE parent-close"},
		{"unless a person has to look", full, []act{failing, does(workflow.StopRequested{Cancel: true}), mergesUntested}, "NEEDS_INPUT merge-cleanup MERGED_UNTESTED"},
		{"then the request is closed", full, []act{untilPhase(workflow.MergeCleanup), well, well}, "RUNNING parent-close close_request"},
	})
}

func TestApprovalOnTheForge(t *testing.T) {
	t.Parallel()
	onForge := ordinary(workflow.WorkflowSimple, false)
	full := ordinary(workflow.WorkflowFull, false)
	onForge.ApproveOnForge, full.ApproveOnForge = true, true
	flagged := func(_ *testing.T, run workflow.Run) workflow.Run {
		run.Details.Flags = []string{"it changes the CI"}
		return run
	}
	said := func(state workflow.ChecksState, by string, objections ...workflow.Objection) act {
		return answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
			return workflow.ChecksEnded{Outcome: o, State: state, ApprovedBy: by, Objections: objections, Command: "make test", Candidate: workflow.Candidate{Head: run.Details.Head, Tree: "t1"}}
		})
	}
	object := said(workflow.ChecksObjected, "", workflow.Objection{ID: "T1/1", Thread: "T1", Finding: workflow.Finding{Text: "rename it"}})
	parked := times(1, untilPhase(workflow.CIWatch), said(workflow.ChecksPassed, ""))
	admitted := does(workflow.Admitted{})
	tell(t, []story{
		{"the pull request is opened without a question", onForge, []act{untilPhase(workflow.PRCreate)}, "RUNNING pr-create open_pull_request"},
		{"unless a person has to look first", full, []act{untilPhase(workflow.StressTest), flagged, toTheEnd}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"what passed waits for people without its slot", onForge, []act{parked}, "QUEUED ci-watch watch_checks"},
		{"and looks again", onForge, []act{parked, admitted}, "RUNNING ci-watch watch_checks"},
		{"however often", onForge, []act{parked, times(20, admitted, said(workflow.ChecksPending, ""))}, "QUEUED ci-watch watch_checks"},
		{"at once where something happened on the forge", onForge, []act{parked, does(workflow.Woken{})}, "QUEUED ci-watch watch_checks"},
		{"an approval there lets it be merged", onForge, []act{parked, admitted, said(workflow.ChecksPassed, "bob")}, "RUNNING merge-cleanup merge_pull_request"},
		{"one that was taken back does not", onForge, []act{parked, admitted, said(workflow.ChecksPassed, "bob"), baseMoves, said(workflow.ChecksPassed, "")}, "QUEUED ci-watch watch_checks"},
		{"one here does too, whoever approves there", onForge, []act{parked, approvesHead, admitted, said(workflow.ChecksPassed, "")}, "RUNNING merge-cleanup merge_pull_request"},
		{"one of an earlier commit does not", onForge, []act{parked, approvesHead, admitted, object, untilPhase(workflow.CIWatch), said(workflow.ChecksPassed, "")}, "QUEUED ci-watch watch_checks"},
		{"of another commit it does not", onForge, []act{parked, does(workflow.Approved{Commit: "other"}), admitted, said(workflow.ChecksPassed, "")}, "QUEUED ci-watch watch_checks"},
		{"a rejection here sends it back", onForge, []act{parked, does(workflow.Rejected{Reason: "no", By: "ada"}), admitted}, "RUNNING review-fix call_agent R01/1"},
		{"a merge by someone ends it", onForge, []act{parked, admitted, merges, toTheEnd}, "DONE parent-close"},
		{"an objection there too", onForge, []act{parked, admitted, object}, "RUNNING review-fix call_agent R01/1"},
		{"of what was approved here, it is asked again", ordinary(workflow.WorkflowSimple, false), []act{toTheEnd, approvesHead, admitted, untilPhase(workflow.CIWatch), object, toTheEnd},
			"NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"three rounds of objections ask a person", onForge, []act{times(3, untilPhase(workflow.CIWatch), object)}, "NEEDS_INPUT review-fix REVIEW_LOOP_EXCEEDED"},
		{"a stopped one waits again", onForge, []act{parked, does(workflow.StopRequested{}), resumed}, "RUNNING ci-watch watch_checks"},
	})
	awaits := func(state workflow.ChecksState, kind await.Kind, of ...string) act {
		return answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
			return workflow.ChecksEnded{Outcome: o, State: state, Awaits: &workflow.Await{Kind: kind, Of: of, Required: kind != await.Approval}, Candidate: workflow.Candidate{Head: run.Details.Head, Tree: "t1"}}
		})
	}
	auto := ordinary(workflow.WorkflowSimple, true)
	toMerge := times(1, untilPhase(workflow.CIWatch), awaits(workflow.ChecksPassed, await.Merge))
	tell(t, []story{
		{"what only others merge waits for them, approved or not", auto, []act{toMerge}, "QUEUED ci-watch watch_checks"},
		{"an approval that no one asked for is not waited for", auto, []act{untilPhase(workflow.CIWatch), awaits(workflow.ChecksPassed, await.Approval)}, "RUNNING merge-cleanup merge_pull_request"},
		{"a check that turns red meanwhile goes to the agent", auto, []act{toMerge, admitted, checks(workflow.ChecksFailed)}, "RUNNING review-fix call_agent R01/1"},
		{"as often as other failures do", auto, []act{times(3, toMerge, admitted, checks(workflow.ChecksFailed))}, "NEEDS_INPUT review-fix CI_PERSISTENT_FAILURE"},
	})
	for _, c := range []struct {
		settings workflow.Settings
		acts     []act
		want     string
	}{
		{onForge, []act{parked}, "an approval of the pull request"},
		{onForge, []act{parked, approvesHead}, "<nil>"},
		{onForge, []act{parked, does(workflow.StopRequested{})}, "<nil>"},
		{auto, []act{untilPhase(workflow.CIWatch), awaits(workflow.ChecksPassed, await.Review, "grace")}, "another review by those who want changes (grace)"},
		{auto, []act{toMerge}, "a maintainer to merge the pull request"},
		{auto, []act{toMerge, admitted}, "a maintainer to merge the pull request"},
		{auto, []act{toMerge, admitted, checks(workflow.ChecksFailed)}, "<nil>"},
		{auto, []act{untilPhase(workflow.CIWatch), awaits(workflow.ChecksPending, await.Checks, "build", "lint")}, "the forge's checks (build, lint)"},
		{auto, []act{untilPhase(workflow.MergeCleanup), awaits(workflow.ChecksPending, await.Queue)}, "the forge's merge queue"},
		{auto, []act{untilPhase(workflow.MergeCleanup), awaits(workflow.ChecksPending, await.Queue), well, merges}, "<nil>"},
	} {
		if run := lived(t, c.settings, c.acts...); fmt.Sprint(run.Awaits()) != c.want {
			t.Errorf("it waits for %v, want %s; %s", run.Awaits(), c.want, run.Progress.Message)
		}
	}
	run := lived(t, onForge, parked, admitted, object)
	if o := run.Details.Objections; len(o) != 1 || o[0].Finding.Text != "rename it" || len(run.Details.Findings) != 1 {
		t.Errorf("taken up: %+v, to fix: %+v", o, run.Details.Findings)
	}
	if run = untilPhase(workflow.CIWatch)(t, run); run.Details.Objections[0].Finding.Text != "" || run.Details.Objections[0].ID != "T1/1" {
		t.Errorf("a pushed fix leaves %+v", run.Details.Objections)
	}
}

func TestAJobThatFailsRunsAgainOnce(t *testing.T) {
	t.Parallel()
	auto := ordinary(workflow.WorkflowSimple, true)
	fails := answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.ChecksEnded{Outcome: o, State: workflow.ChecksFailed, Rerunnable: true, Check: "lint", Summary: "lint", Log: "boom", Candidate: workflow.Candidate{Head: run.Details.Head, Tree: "t1"}}
	})
	runsAgain := func(jobs ...string) act {
		return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			return workflow.ChecksRerun{Outcome: o, Jobs: jobs}
		})
	}
	again := times(1, untilPhase(workflow.CIWatch), fails)
	second := times(1, again, runsAgain("lint"), well)
	tell(t, []story{
		{"before an agent is paid for it", auto, []act{again}, "RUNNING ci-watch rerun_checks wait 30s watch_checks"},
		{"then it is waited for", auto, []act{again, runsAgain("lint")}, "RUNNING ci-watch wait 30s watch_checks"},
		{"as it is for what the forge can't run again", auto, []act{again, runsAgain(), well}, "RUNNING ci-watch watch_checks"},
		{"what passes is merged", auto, []act{second, checks(workflow.ChecksPassed)}, "RUNNING merge-cleanup merge_pull_request"},
		{"what fails again is fixed", auto, []act{second, fails}, "RUNNING review-fix call_agent R01/1"},
		{"and the fix has its own second attempt", auto, []act{second, fails, again}, "RUNNING ci-watch rerun_checks wait 30s watch_checks"},
		{"what failed here is fixed at once", auto, []act{untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed)}, "RUNNING review-fix call_agent R01/1"},
	})
	run := lived(t, auto, second, checks(workflow.ChecksPassed))
	last := run.Details.Evidence[len(run.Details.Evidence)-1]
	if note := run.Details.Phases[workflow.CIWatch].Note; !last.Passed || last.Check != "lint" || last.Commit != run.Details.Head || note != "passed on t1, lint at the second attempt" {
		t.Errorf("the evidence is %+v, the note %q", last, note)
	}
}

func TestAForgesFailedCheckIsNamedAndItsLogIsForTheAgent(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowSimple, true), untilPhase(workflow.CIWatch), answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.ChecksEnded{Outcome: o, State: workflow.ChecksFailed, Check: "lint", Summary: "it failed", Log: "boom", Candidate: workflow.Candidate{Head: run.Details.Head, Tree: "t1"}}
	}))
	last := run.Details.Evidence[len(run.Details.Evidence)-1]
	if last.Check != "lint" || last.Purpose != "check on the forge" || last.Tree != "" || last.Passed {
		t.Errorf("the evidence is %+v", last)
	}
	if text := run.Details.Findings[0].Text; !strings.HasSuffix(text, "it failed\nboom") {
		t.Errorf("the agent gets %q", text)
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	shown := ordinary(workflow.WorkflowFull, true)
	shown.Drafts = true
	asked := shown
	asked.AutoApprove = false
	first := untilAction(workflow.OpenPullRequest)
	tell(t, []story{
		{"the first step that is done is shown", shown, []act{first}, "RUNNING tdd-green open_pull_request call_agent S02/1"},
		{"and the run goes on", shown, []act{first, well}, "RUNNING tdd-green call_agent S02/1"},
		{"every step is", shown, []act{first, well, first, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"what is done is offered to be merged", shown, []act{untilPhase(workflow.PRCreate), well}, "RUNNING ci-watch watch_checks"},
		{"nothing is shown that a person agrees to first", asked, []act{first}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"who gives it up has it closed", shown, []act{first, well, does(workflow.StopRequested{Cancel: true})}, "RUNNING tdd-green close_pull_request"},
	})
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
