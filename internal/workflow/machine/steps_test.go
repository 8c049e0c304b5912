package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	full, simple, untested := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true), ordinary(workflow.WorkflowFull, true)
	untested.Tests = nil
	refactoring := custom("design-check", "tdd-refactor")
	tidied := plans(workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02", Phase: "tdd-refactor"}}}})
	empty := times(1, well, nothingChanges) // the agent ends well and no file differs
	failing := times(1, well, well, testsFail)
	refused := times(1, well, changes(policy.FileChange{Path: "a/.GIT/config"}))
	inStep := untilPhase(workflow.TDDGreen)
	tell(t, []story{
		{"a new test may fail", full, []act{untilPhase(workflow.TDDRed), failing}, "RUNNING tdd-green call_agent S02/1"},
		{"an exit without a change is asked again", simple, []act{inStep, empty}, "RUNNING tdd-green call_agent S01/2"},
		{"and again", simple, []act{inStep, empty, empty}, "RUNNING tdd-green call_agent S01/3"},
		{"and then fails", simple, []act{inStep, times(3, empty)}, "FAILED tdd-green NO_CHANGE"},
		{"a retried run goes on with the same step's next attempt", simple, []act{inStep, times(3, empty), does(workflow.Retried{}), does(workflow.Admitted{})},
			"RUNNING tdd-green call_agent S01/4"},
		{"a new test that was not written is asked for again", full, []act{untilPhase(workflow.TDDRed), empty}, "RUNNING tdd-red call_agent S01/2"},
		{"a mend that changes nothing fails too", full, []act{untilPhase(workflow.ReviewRequest), reviewFinds, times(3, empty)}, "FAILED review-fix NO_CHANGE"},
		{"a refactoring may change nothing", refactoring, []act{untilPhase(workflow.DesignCheck), tidied, untilPhase(workflow.TDDRefactor), empty, well},
			"RUNNING pr-create open_pull_request"},
		{"failing tests go back to the implementer", full, []act{inStep, failing}, "RUNNING tdd-green call_agent S02/2"},
		{"a fourth failure of the tests fails the run", full, []act{inStep, times(4, failing)}, "FAILED tdd-green TESTS_FAILED"},
		{"a mend must leave the tests passing", full, []act{untilPhase(workflow.ReviewRequest), reviewFinds, times(4, failing)}, "FAILED review-fix TESTS_FAILED"},
		{"a refused change goes back to the implementer", full, []act{inStep, refused}, "RUNNING tdd-green call_agent S02/2"},
		{"a fourth refusal fails the run", full, []act{inStep, times(4, refused)}, "FAILED tdd-green CHANGE_REFUSED"},
		{"a change that cannot be recorded goes back to the implementer", full, []act{inStep, well, answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			return workflow.ChangeRefused{Outcome: o, Problems: []string{"60 MiB"}}
		})}, "RUNNING tdd-green call_agent S02/2"},
		{"a project without tests is not tested", untested, []act{inStep, well, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"a crash between the change and its tests tests it", full, []act{inStep, well, well, crash}, "RUNNING tdd-green run_tests S02/1"},
	})
}

func TestOnlyTheLastImplementingStepMustPass(t *testing.T) {
	t.Parallel()
	two := plans(workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02"}}}})
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.DesignCheck), two, untilPhase(workflow.TDDGreen), well, well, testsFail)
	if got, want := where(run), "RUNNING tdd-green call_agent S02/1"; got != want {
		t.Fatalf("after the first step's tests fail: %s, want %s", got, want)
	}
	if run = well(t, well(t, run)); where(testsFail(t, run)) != "RUNNING tdd-green call_agent S02/2" {
		t.Error("the last step was let through with failing tests")
	}
}

func TestEndToEndTestsRunWhereAChangeMustPass(t *testing.T) {
	t.Parallel()
	full, only, simple := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true)
	for _, s := range []*workflow.Settings{&full, &only, &simple} {
		s.TestsE2E = []string{"make e2e"}
	}
	only.Tests = nil
	inStep, implemented := untilPhase(workflow.TDDGreen), times(1, well, well)
	failing := times(1, implemented, well, testsFail)
	tell(t, []story{
		{"they follow the tests", full, []act{inStep, implemented, well}, "RUNNING tdd-green run_tests S02/1"},
		{"and then the step is done", full, []act{inStep, implemented, well, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"they say nothing of a test that is to fail", full, []act{untilPhase(workflow.TDDRed), implemented, well}, "RUNNING tdd-green call_agent S02/1"},
		{"a failure goes back to the implementer", full, []act{inStep, failing}, "RUNNING tdd-green call_agent S02/2"},
		{"a fourth failure fails the run", full, []act{inStep, times(4, failing)}, "FAILED tdd-green TESTS_FAILED"},
		{"a mend has to pass them", full, []act{untilPhase(workflow.ReviewRequest), reviewFinds, times(4, failing)}, "FAILED review-fix TESTS_FAILED"},
		{"a project may have no others", only, []act{inStep, implemented}, "RUNNING tdd-green run_tests S02/1"},
		{"a crash in between repeats only them", simple, []act{inStep, implemented, well, crash}, "RUNNING tdd-green run_tests S01/1"},
	})
}

func TestEndToEndTestsAreShownAndCounted(t *testing.T) {
	t.Parallel()
	s := ordinary(workflow.WorkflowFull, true)
	s.TestsE2E = []string{"make e2e", "make smoke"}
	run := lived(t, s, untilPhase(workflow.TDDRed))
	if commands := run.Details.Tested; commands == nil || run.Counters.E2ERuns != 0 {
		t.Fatalf("before anything is changed: base %+v, %d runs are counted", commands, run.Counters.E2ERuns)
	}
	if got := run.Steps[1].Test.E2E.Status; got != workflow.TestNotRun {
		t.Errorf("a step that did not begin shows %s", got)
	}
	run = untilPhase(workflow.TDDGreen)(t, run)
	if got := run.Steps[0].Test.E2E.Status; got != workflow.TestSkipped {
		t.Errorf("the step that writes the failing test shows %s", got)
	}
	run = times(1, well, well, well)(t, run)
	if e2e := run.Steps[1].Test.E2E; e2e.Status != workflow.TestRunning || *e2e.Command != "make e2e && make smoke" {
		t.Errorf("while they run the step shows %+v", e2e)
	}
	if a := run.Details.Pending[0]; a.Purpose != workflow.E2ETests || len(a.Commands) != 2 || run.Stage != workflow.StageTesting {
		t.Errorf("ordered is %+v in %s", a, run.Stage)
	}
	run = testsFail(t, run)
	if e2e := run.Steps[1].Test.E2E; e2e.Status != workflow.TestFail || *e2e.FailedSummary != "1 failed" || run.Steps[1].Test.Unit.Status != workflow.TestPass {
		t.Errorf("after their failure the step shows %+v", run.Steps[1].Test)
	}
	if reason := run.Details.Pending[0].Reason; !strings.HasPrefix(reason, "The end-to-end tests fail:") {
		t.Errorf("the implementer is told %q", reason)
	}
	run = times(1, well, well)(t, run)
	if test := run.Steps[1].Test; test.Unit.Status != workflow.TestRunning || test.E2E.Status != workflow.TestNotRun {
		t.Errorf("the next attempt shows %+v", test)
	}
	if run = well(t, well(t, run)); run.Counters.E2ERuns != 2 || run.Counters.UnitRuns != 3 || run.Steps[1].Test.E2E.Status != workflow.TestPass {
		t.Errorf("after all: %+v, %+v", run.Counters, run.Steps[1].Test.E2E)
	}
	if e := run.Details.Evidence; e[len(e)-1].Purpose != string(workflow.E2ETests) || !e[len(e)-1].Passed {
		t.Errorf("the evidence is %+v", e)
	}
}

func TestEndToEndTestsAreTriedOnTheBase(t *testing.T) {
	t.Parallel()
	s := ordinary(workflow.WorkflowSimple, true)
	s.TestsE2E = []string{"make e2e"}
	run := lived(t, s, until(func(run workflow.Run) bool { return run.Details.Pending[0].Purpose == workflow.BaseTests }))
	if got := run.Details.Pending[0].Commands; len(got) != 2 || got[1] != "make e2e" {
		t.Fatalf("on the base run %q", got)
	}
	run = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.TestsEnded{Outcome: o, Failures: []workflow.TestFailure{{Command: "make e2e", ExitCode: 127, Unnamed: true}}}
	})(t, run)
	if got, want := where(run), "NEEDS_INPUT design-check TESTS_CANNOT_RUN"; got != want {
		t.Errorf("without their program: %s, want %s", got, want)
	}
}

func TestAStepKeepsWhatItCameTo(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well,
		changes(policy.FileChange{Path: "parse.go", NewMode: "100644", Added: 9, Deleted: 3}))
	if test := run.Steps[1].Test.Unit; test.Status != workflow.TestRunning || *test.Command != "make test" {
		t.Errorf("while its tests run the step shows %+v", test)
	}
	run = testsFail(t, run)
	step := run.Steps[1]
	if step.Test.Unit.Status != workflow.TestFail || *step.Test.Unit.FailedSummary != "1 failed" {
		t.Errorf("failed tests are shown as %+v", step.Test.Unit)
	}
	if step.DiffStat.LinesAdded != 9 || step.DiffStat.LinesDeleted != 3 || step.DiffStat.FilesChanged != 1 {
		t.Errorf("the change is shown as %+v", step.DiffStat)
	}
	if reason := run.Details.Pending[0].Reason; !strings.Contains(reason, "1 failed") {
		t.Errorf("the implementer is told %q", reason)
	}
	if e := run.Details.Evidence; len(e) == 0 || e[len(e)-1].Passed {
		t.Errorf("the evidence is %+v", e)
	}
}

func TestAgentsThatFail(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	inStep := untilPhase(workflow.TDDGreen)
	tell(t, []story{
		{"a hung agent is started again", full, []act{inStep, agentFails("AGENT_HUNG")}, "RUNNING tdd-green call_agent S02/2"},
		{"a third hang fails the run", full, []act{inStep, times(3, agentFails("AGENT_HUNG"))}, "FAILED tdd-green AGENT_HUNG"},
		{"a retried run goes on with the same step's next attempt", full, []act{inStep, times(3, agentFails("AGENT_HUNG")), does(workflow.Retried{}),
			does(workflow.Admitted{})}, "RUNNING tdd-green call_agent S02/4"},
		{"and may hang twice more", full, []act{inStep, times(3, agentFails("AGENT_HUNG")), does(workflow.Retried{}), does(workflow.Admitted{}),
			times(2, agentFails("AGENT_HUNG"))}, "RUNNING tdd-green call_agent S02/6"},
		{"an agent that cannot be started asks a person at once", full, []act{inStep, agentFails("AGENT_UNAVAILABLE")},
			"NEEDS_INPUT tdd-green AGENT_UNAVAILABLE"},
		{"and is called when that is settled", full, []act{inStep, agentFails("AGENT_UNAVAILABLE"), resumed}, "RUNNING tdd-green call_agent S02/1"},
		{"a planner that hangs is asked again", full, []act{untilPhase(workflow.DesignCheck), times(2, agentFails("AGENT_HUNG"))},
			"RUNNING design-check call_agent planner"},
		{"a reviewer that hangs three times fails the run", full, []act{untilPhase(workflow.ReviewRequest), times(3, agentFails("AGENT_HUNG"))},
			"FAILED review-request AGENT_HUNG"},
	})
}

func TestAFlagGoesWithItsCause(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well, changes(policy.FileChange{Path: ".gitattributes"}))
	if len(run.Details.Flags) != 1 {
		t.Fatalf("flags %q, want one", run.Details.Flags)
	}
	for _, act := range []act{testsFail, well, answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.ChangeRecorded{Outcome: o, Commit: "without it", Whole: []policy.FileChange{{Path: "parse.go", NewMode: "100644"}}}
	})} {
		run = act(t, run)
	}
	if len(run.Details.Flags) != 0 {
		t.Errorf("the file is gone and its flag is not: %q", run.Details.Flags)
	}
}

func TestAChangeThatTouchesItsOwnTestNeedsAPersonInHealToo(t *testing.T) {
	t.Parallel()
	for line, files := range map[string]map[string]bool{
		"sh test.sh":                     {"test.sh": true, "shop.go": false, "old/test.sh": true, "attest.sh": false},
		"./health.sh --all 2>err":        {"health.sh": true, "health.go": false},
		"cd web && exec './check'; true": {"web/check": true},
		`grep -q "hello" greeting.txt`:   {"greeting.txt": false},
		"go test ./...":                  {"shop_test.go": false, "go.mod": false},
	} {
		for file, want := range files {
			for _, check := range []*workflow.HealthCheck{nil, {Kind: workflow.HealthCommand, Command: line}, {Kind: workflow.HealthBranchTests}} {
				plan := ordinary(workflow.WorkflowHeal, true)
				plan.Check, plan.Tests = check, []string{line}
				changed := policy.FileChange{Path: file, OldMode: "100644", NewMode: "100644"}
				run := lived(t, plan, untilPhase(workflow.TDDGreen), well, changes(changed))
				if got := len(run.Details.Flags) == 1; got != want {
					t.Errorf("%q judges by %s (%+v): flags %q", line, file, check, run.Details.Flags)
				}
			}
		}
	}
	plan := ordinary(workflow.WorkflowHeal, true)
	plan.Check = &workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "./report.sh"}
	if run := lived(t, plan, untilPhase(workflow.TDDGreen), well, changes(policy.FileChange{Path: "report.sh", OldMode: "000000", NewMode: "100755"})); len(run.Details.Flags) != 1 {
		t.Errorf("the change writes the script that the check starts: %q", run.Details.Flags)
	}
}

func TestNothingIsOfferedWhenNothingDiffers(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDRefactor))
	run.Details.Head = run.Details.BaseCommit
	run.Details.StepBase = run.Details.BaseCommit
	for _, act := range []act{well, nothingChanges, toTheEnd} {
		run = act(t, run)
	}
	if run.State != workflow.Failed || run.Error.ReasonCode != "NO_CHANGE" {
		t.Errorf("%s %+v, want FAILED NO_CHANGE", run.State, run.Error)
	}
}
