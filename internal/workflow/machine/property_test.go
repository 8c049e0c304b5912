package machine

import (
	"testing"

	"pgregory.net/rapid"

	"signalbox/internal/workflow"
)

// TestAnyLifeIsLegal sends any sequence of orders, outcomes (also late, twice
// and never asked for) and crashes, and holds what must hold after every one.
func TestAnyLifeIsLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		run := newRun(drawnSettings(t))
		var late []workflow.Event
		for range rapid.IntRange(1, 120).Draw(t, "events") {
			if rapid.IntRange(0, 9).Draw(t, "crash") == 0 {
				run = reloaded(t, run)
				run = applied(t, run, workflow.Admitted{Epoch: run.Details.Epoch + 1})
			}
			event := drawnEvent(t, run, late)
			if event.Answers() != nil {
				late = append(late, event)
			}
			run = applied(t, run, event)
		}
		canEnd(t, run)
	})
}

func drawnSettings(t *rapid.T) workflow.Settings {
	auto := rapid.Bool().Draw(t, "auto")
	s := ordinary(rapid.SampledFrom([]string{workflow.WorkflowFull, workflow.WorkflowSimple}).Draw(t, "workflow"), auto)
	if rapid.Bool().Draw(t, "custom") {
		s.Workflow, s.Phases = workflow.WorkflowCustom, rapid.SliceOfDistinct(rapid.SampledFrom(workflow.OptionalSteps()), rapid.ID[workflow.StepName]).Draw(t, "phases")
	}
	if rapid.Bool().Draw(t, "tight") {
		s.Limits = tight
	}
	s.ApproveOnForge, s.Drafts = rapid.Bool().Draw(t, "approve on the forge"), rapid.Bool().Draw(t, "drafts")
	s.HasPlanner, s.HasReviewer = rapid.Bool().Draw(t, "planner"), rapid.Bool().Draw(t, "reviewer")
	s.StopOnSetUpFailure = rapid.Bool().Draw(t, "stop on setup failure")
	if rapid.Bool().Draw(t, "untested") {
		s.Tests, s.Stress = nil, ""
	}
	if rapid.Bool().Draw(t, "end to end") {
		s.TestsE2E = []string{"make e2e"}
	}
	return s
}

// drawnEvent prefers what moves the run on, so that sequences get far.
func drawnEvent(t *rapid.T, run workflow.Run, late []workflow.Event) workflow.Event {
	kind := rapid.IntRange(0, 19).Draw(t, "kind")
	switch {
	case kind == 0 && len(late) > 0:
		return rapid.SampledFrom(late).Draw(t, "late")
	case kind <= 1:
		return rapid.SampledFrom(eventsFor(run)).Draw(t, "any")
	case kind <= 13 || run.State != workflow.Running:
		return withSetUp(t, onward(run))
	}
	return rapid.SampledFrom(outcomes(run, run.Details.Pending[0])).Draw(t, "outcome")
}

func withSetUp(t *rapid.T, event workflow.Event) workflow.Event {
	if e, ok := event.(workflow.PlanAnswered); ok && rapid.Bool().Draw(t, "setup") {
		e.Plan.Environment = setUp
		return e
	}
	return event
}

// onward is what a helpful world does next.
func onward(run workflow.Run) workflow.Event {
	switch {
	case run.AsksForApproval() && !run.Details.Canceling:
		return workflow.Approved{Commit: run.Details.Head, By: "ada"}
	case run.State == workflow.Queued:
		return workflow.Admitted{Epoch: run.Details.Epoch + 1}
	case run.State == workflow.Running:
		return goesWell(run)
	case run.State == workflow.Failed:
		return workflow.Retried{}
	}
	return workflow.Resumed{}
}

// applied is Decide, holding what must hold between two documents.
func applied(t failer, before workflow.Run, event workflow.Event) workflow.Run {
	t.Helper()
	after, actions := Decide(before, event, epoch)
	grown := after.Details.Transition - before.Details.Transition
	if grown == 0 {
		if encoded(t, after) != encoded(t, before) {
			t.Fatalf("%s changed a run that it does not apply to: %s", eventName(event), where(after))
		}
		return before
	}
	checkLegal(t, before, event, after, actions)
	if grown != 1 {
		t.Fatalf("%s moved the transition number by %d", eventName(event), grown)
	}
	if after.Details.Orders < before.Details.Orders || after.Details.Fixes < before.Details.Fixes || shrank(before.Counters, after.Counters) {
		t.Fatalf("%s made a counter smaller: %+v, then %+v", eventName(event), before.Counters, after.Counters)
	}
	fromDisk, _ := Decide(reloaded(t, before), event, epoch)
	if encoded(t, fromDisk) != encoded(t, after) {
		t.Fatalf("%s is decided otherwise after a restart:\n%s\n%s", eventName(event), encoded(t, after), encoded(t, fromDisk))
	}
	twice(t, event, after)
	return after
}

func shrank(before, after workflow.Counters) bool {
	return after.PlannerCalls < before.PlannerCalls || after.ImplementerCalls < before.ImplementerCalls ||
		after.QACalls < before.QACalls || after.UnitRuns < before.UnitRuns || after.E2ERuns < before.E2ERuns ||
		after.AutofixCycles < before.AutofixCycles || after.Retries < before.Retries
}

// twice holds that the same fact told again moves nothing. An order is
// acknowledged again, which is a transition; an outcome is not even that.
func twice(t failer, event workflow.Event, once workflow.Run) {
	t.Helper()
	again, _ := Decide(once, event, epoch)
	switch e := event.(type) {
	case workflow.Resumed, workflow.Retried, workflow.Approved, workflow.StopRequested:
		if e == workflow.Event(workflow.StopRequested{Cancel: true}) {
			return // orders the putting away anew
		}
		again.Details.Transition, again.Progress.Message = once.Details.Transition, once.Progress.Message
	case workflow.Admitted, workflow.Waiting, workflow.Rejected, workflow.SyncOrdered, workflow.SessionBegan, workflow.SessionUsed, workflow.SessionBaseSet: // what is used is booked as often as it is told
		return
	}
	if encoded(t, again) != encoded(t, once) {
		t.Fatalf("%s told twice moved the run from %s to %s", eventName(event), where(once), where(again))
	}
}

// canEnd holds that nothing which happened to a run stands between it and its
// end, once the world is helpful.
func canEnd(t failer, run workflow.Run) {
	t.Helper()
	for range 200 {
		if run.State.Final() {
			return
		}
		event := onward(run)
		after, actions := Decide(run, event, epoch)
		checkLegal(t, run, event, after, actions)
		run = after
	}
	t.Fatalf("200 helpful events do not end it: %s", where(run))
}
