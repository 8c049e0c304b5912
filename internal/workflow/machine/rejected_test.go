package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// The acts of a person who sends a change back, of an agent that then changes nothing, and of a sync.
var (
	rejects = times(1, does(workflow.Rejected{Reason: "too clever", By: "ada"}), does(workflow.Admitted{}))
	inVain  = times(3, well, nothingChanges)
	syncs   = times(1, does(workflow.SyncOrdered{}), does(workflow.Admitted{}))
	moved   = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.BaseMerged{Outcome: o, Base: "base2", Commit: "merged"}
	})
	notMoved = answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.BaseMerged{Outcome: o, Base: run.Details.BaseCommit, Commit: run.Details.Head}
	})
)

func approvesHead(t *testing.T, run workflow.Run) workflow.Run {
	t.Helper()
	return does(workflow.Approved{Commit: run.Details.Head, By: "ada"})(t, run)
}

func TestARejectedChange(t *testing.T) {
	t.Parallel()
	asked, full, auto := ordinary(workflow.WorkflowSimple, false), ordinary(workflow.WorkflowFull, false), ordinary(workflow.WorkflowFull, true)
	back := []act{toTheEnd, rejects}
	then := func(acts ...act) []act { return append(slices.Clip(back), acts...) }
	flagged := func(flags ...string) act { // any asks a person although approval is automatic
		return func(_ *testing.T, run workflow.Run) workflow.Run {
			run.Details.Flags = flags
			return run
		}
	}
	tell(t, []story{
		{"stays the one that was sent back when the agent changes nothing", asked, then(inVain), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"also where approval is automatic", auto, []act{untilPhase(workflow.ReviewRequest), flagged("it adds a dependency"), toTheEnd, rejects, flagged(), inVain}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"is asked about after its rework, too", auto, []act{untilPhase(workflow.ReviewRequest), flagged("it adds a dependency"), toTheEnd, rejects, flagged(), toTheEnd}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"is not reviewed again unchanged", full, then(inVain), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"is asked about again when resumed", asked, then(inVain, resumed), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"can be sent back in other words", asked, then(inVain, rejects), "RUNNING review-fix call_agent R02/1"},
		{"can be agreed to after all", asked, then(inVain, approvesHead, does(workflow.Admitted{})), "RUNNING pr-create open_pull_request"},
		{"goes back to the agent after a sync, on a base that did not move", asked, then(inVain, syncs, notMoved), "RUNNING review-fix call_agent R02/1"},
		{"or did", asked, then(inVain, syncs, moved), "RUNNING review-fix call_agent R02/1"},
		{"is tested on that base when the agent changes nothing again", asked, then(inVain, syncs, moved, inVain), "RUNNING review-fix run_tests R02/3"},
		{"and then asked about", asked, then(inVain, syncs, moved, inVain, toTheEnd), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"and goes back after each further sync", asked, then(inVain, syncs, moved, inVain, toTheEnd, syncs, notMoved), "RUNNING review-fix call_agent R03/1"},
		{"goes back to the agent that failed", asked, then(times(3, agentFails("AGENT_HUNG")), syncs, notMoved), "RUNNING review-fix call_agent R02/1"},
		{"and to one whose rework fails the tests", asked, then(well, well, times(3, testsFail, well, well), testsFail, syncs, notMoved), "RUNNING review-fix call_agent R02/1"},
		{"is judged by its tests after a sync though no one rejected it", asked,
			[]act{toTheEnd, approvesHead, untilPhase(workflow.CIWatch), checks(workflow.ChecksFailed), well, well, times(3, testsFail, well, well), testsFail, syncs, notMoved}, "RUNNING review-fix run_tests R02/1"},
	})
}

// A person who agrees to a change reads what was said against it.
func TestARejectionIsShownUntilAPersonAgrees(t *testing.T) {
	t.Parallel()
	words := `ada sent it back: "too clever"`
	asked := ordinary(workflow.WorkflowSimple, false)
	unchanged := times(1, toTheEnd, rejects, inVain)
	synced := times(1, unchanged, syncs, moved, inVain, toTheEnd)
	for name, c := range map[string]struct {
		acts     act
		sentBack bool
		says     []string
	}{
		"nothing changed":              {unchanged, true, []string{words, "R01 called 3 times and no file differs"}},
		"nothing but the base changed": {synced, true, []string{words, "R02 called 3 times and no file differs", "the base branch at base2 was merged into the change"}},
		"it was reworked":              {times(1, toTheEnd, rejects, toTheEnd), false, []string{"the change is ready: ", "before it was reworked, " + words}},
		"its approval is void":         {times(1, toTheEnd, rejects, toTheEnd, approvesHead, syncs, moved, toTheEnd), false, []string{"before it was reworked, " + words}},
		"a conflict was resolved": {times(1, unchanged, syncs, answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			return workflow.BaseMerged{Outcome: o, Base: "base2", Commit: "merged", Conflicts: []string{"a.go"}}
		}), toTheEnd), false, []string{"before it was reworked, " + words}},
	} {
		run := lived(t, asked, c.acts)
		if run.Details.SentBack() != c.sentBack || strings.HasPrefix(run.Error.Message, "the change is ready") == c.sentBack {
			t.Errorf("%s: sent back %v, and the person is told %q", name, run.Details.SentBack(), run.Error.Message)
		}
		for _, want := range c.says {
			if !strings.Contains(run.Error.Message, want) {
				t.Errorf("%s: the person is told %q, without %q", name, run.Error.Message, want)
			}
		}
		// Agreed to as it is, the change is no longer against their words. What was reworked has to follow them to its merge.
		if run = approvesHead(t, run); run.Details.SentBack() || (run.Details.Rejection == nil) != c.sentBack || len(run.Details.Findings) != 0 {
			t.Errorf("%s: agreed to, it keeps %v and %v", name, run.Details.Rejection, run.Details.Findings)
		}
	}
}

func TestARejectionKeepsTheEarlierOnes(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowSimple, false), toTheEnd, rejects, toTheEnd, does(workflow.Rejected{Reason: "say green"}))
	if r := run.Details.Rejection; r.Reason != "say green" || !slices.Equal(r.Earlier, []string{"too clever"}) {
		t.Errorf("it is %+v", r)
	}
}
