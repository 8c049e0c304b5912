package machine

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// on the base, or after a change, tests come to these.
func testsEnd(failures ...workflow.TestFailure) act {
	return answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		e := workflow.TestsEnded{Outcome: o, Commit: run.Details.Head, Command: "make test", Passed: true, Failures: failures}
		for i := range failures {
			failures[i].Command = cmp.Or(failures[i].Command, "make test")
			e.Passed = e.Passed && !failures[i].Failed()
		}
		return e
	})
}

func named(names ...string) workflow.TestFailure {
	return workflow.TestFailure{ExitCode: 1, Tests: names}
}

var (
	unnamed   = workflow.TestFailure{ExitCode: 1, Unnamed: true, Summary: "make test: exit code 1 after 7ms\nwrong"}
	notFound  = workflow.TestFailure{ExitCode: 127, Unnamed: true, Summary: "make test: exit code 127\nsh: make: not found"}
	noTests   = workflow.TestFailure{NoTests: true}
	timedOut  = workflow.TestFailure{ExitCode: -1, Unsettled: true, Unnamed: true}
	otherThan = workflow.TestFailure{ExitCode: 1, Unnamed: true, Summary: "make test: exit code 1 after 9ms\nwrong in another way"}
)

// atBase is a run whose tests are about to run on the base.
var atBase = untilAction(workflow.RunTests)

func TestTheBaseIsCheckedBeforeAnythingIsPaidFor(t *testing.T) {
	t.Parallel()
	full, simple, untested := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true), ordinary(workflow.WorkflowFull, true)
	untested.Tests = nil
	detected := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.EnvironmentDetected{Outcome: o, Detection: workflow.Detection{Environment: "go", SetUp: []string{"go mod download"}}}
	})
	free := times(1, untilAction(workflow.DetectEnvironment), detected, untilAction(workflow.RunSetUp))
	force := times(1, does(workflow.Resumed{Force: true}), does(workflow.Admitted{Epoch: 2}))
	corrected := ordinary(workflow.WorkflowSimple, true)
	corrected.Tests = []string{"go test ./..."}
	tell(t, []story{
		{"a planner is called after the tests ran", full, []act{atBase}, "RUNNING env-create run_tests"},
		{"and then once", full, []act{atBase, well, well}, "RUNNING design-read read_design"},
		{"without tests nothing is run", untested, []act{untilAction(workflow.CreateEnvironment), well}, "RUNNING design-read read_design"},
		{"without a planner they run after the setup", simple, []act{atBase}, "RUNNING design-check run_tests"},
		{"and what they left is kept", simple, []act{atBase, well}, "RUNNING design-check keep_environment"},
		{"and then the work begins", simple, []act{atBase, well, well}, "RUNNING tdd-green call_agent S01/1"},
		{"tests that fail keep no run from its work", full, []act{atBase, testsEnd(named("TestOld")), well}, "RUNNING design-read read_design"},
		{"a program that is not there stops the run", full, []act{atBase, testsEnd(notFound)}, "NEEDS_INPUT env-create TESTS_CANNOT_RUN"},
		{"and so do tests that are none", simple, []act{atBase, testsEnd(noTests)}, "NEEDS_INPUT design-check TESTS_CANNOT_RUN"},
		{"resumed it begins with the base branch", simple, []act{atBase, testsEnd(notFound), resumed}, "RUNNING branch-create check_dependencies"},
		{"and with the corrected tests", simple, []act{atBase, testsEnd(notFound), does(workflow.Resumed{}), does(workflow.Admitted{Settings: &corrected}), untilAction(workflow.CallAgent)},
			"RUNNING tdd-green call_agent S01/1"},
		{"a person may want it to go on", full, []act{atBase, testsEnd(notFound), force, untilAction(workflow.ReadDesign)}, "RUNNING design-read read_design"},
		{"and it asks no second time", simple, []act{atBase, testsEnd(noTests), force, untilAction(workflow.CallAgent)}, "RUNNING tdd-green call_agent S01/1"},
		{"tests that did not end are run again", simple, []act{atBase, testsEnd(timedOut)}, "RUNNING design-check run_tests"},
		{"and then a person is asked", simple, []act{atBase, testsEnd(timedOut), testsEnd(timedOut)}, "NEEDS_INPUT design-check TESTS_NOT_SETTLED"},
		{"who has them run once more", simple, []act{atBase, times(2, testsEnd(timedOut)), resumed}, "RUNNING design-check run_tests"},
		{"a setup that needs no model comes before the planner", full, []act{free}, "RUNNING env-create run_set_up"},
		{"and is the environment's before the tests run", full, []act{free, well}, "RUNNING env-create adopt_set_up"},
		{"one that fails leaves it to the plan, and no test runs", full, []act{free, setUpFails(workflow.FailureFixable)}, "RUNNING design-read read_design"},
		{"also where a person has to be asked later", strictly(full), []act{free, setUpFails(workflow.FailureFatal)}, "RUNNING design-read read_design"},
		{"then they run once the plan's setup is there", full, []act{free, setUpFails(workflow.FailureFixable), untilAction(workflow.RunTests)}, "RUNNING design-check run_tests"},
		{"a crash on the way repeats what was in hand", full, []act{free, crash, well, crash, well, crash, well, crash}, "RUNNING env-create keep_environment"},
	})
}

func strictly(s workflow.Settings) workflow.Settings {
	s.StopOnSetUpFailure = true
	return s
}

func TestWhatFailedBeforeTheChangeIsNotItsToAnswerFor(t *testing.T) {
	t.Parallel()
	simple, manual := ordinary(workflow.WorkflowSimple, true), ordinary(workflow.WorkflowSimple, false)
	heal := ordinary(workflow.WorkflowHeal, true)
	heal.Check, heal.HasPlanner = &workflow.HealthCheck{Kind: workflow.HealthBranchTests}, false
	asked := named("TestOld")
	asked.Asked = []string{"TestOld"}
	after := func(base workflow.TestFailure, change ...workflow.TestFailure) []act {
		return []act{atBase, testsEnd(base), untilAction(workflow.CallAgent), well, well, testsEnd(change...)}
	}
	old := named("TestOld", "TestOlder")
	approved := orders(func(run workflow.Run) workflow.Event { return workflow.Approved{Commit: run.Details.Head, By: "ada"} })
	tell(t, []story{
		{"fewer fail", simple, after(old, named("TestOld")), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"all of them still do", simple, after(old, old), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"one more fails", simple, after(old, named("TestOld", "TestNew")), "RUNNING tdd-green call_agent S01/2"},
		{"something without a name fails beside it", simple, after(old, workflow.TestFailure{ExitCode: 1, Tests: []string{"TestOld"}, Unnamed: true}), "RUNNING tdd-green call_agent S01/2"},
		{"another command fails", simple, after(old, workflow.TestFailure{Command: "make lint", ExitCode: 1, Tests: []string{"TestOld"}}), "RUNNING tdd-green call_agent S01/2"},
		{"the request names the test", simple, after(asked, named("TestOld")), "RUNNING tdd-green call_agent S01/2"},
		{"the run is to repair it", heal, after(old, old), "RUNNING tdd-green call_agent S01/2"},
		{"it has no name and fails alike: one more attempt", simple, after(unnamed, unnamed), "RUNNING tdd-green call_agent S01/2"},
		{"and no more than that", simple, append(after(unnamed, unnamed), well, well, testsEnd(unnamed)), "FAILED tdd-green TESTS_FAILED"},
		{"it has no name and fails otherwise", simple, append(after(unnamed, otherThan), times(2, well, well, testsEnd(otherThan))), "RUNNING tdd-green call_agent S01/4"},
		{"the request names the test: it has every attempt", simple, append(after(asked, named("TestOld")), well, well, testsEnd(named("TestOld"))), "RUNNING tdd-green call_agent S01/3"},
		{"one more fails, and again", simple, append(after(old, named("TestOld", "TestNew")), well, well, testsEnd(named("TestOld", "TestNew"))), "RUNNING tdd-green call_agent S01/3"},
		{"a person has agreed", simple, append(after(old, old), approved), "QUEUED approval-wait"},
		{"a person is asked anyway", manual, after(old, old), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
	})
	run := lived(t, simple, after(old, old)...)
	if flags := strings.Join(run.Details.Flags, "\n"); !strings.Contains(flags, "failed before the change and still do: TestOld, TestOlder") {
		t.Errorf("the person is shown %q", flags)
	}
	if last := run.Details.Evidence[len(run.Details.Evidence)-1]; last.Passed || !slices.Equal(last.Known, []string{"TestOld", "TestOlder"}) {
		t.Errorf("the evidence is %+v", last)
	}
	if said := strings.Join(run.Details.Warnings(), "\n"); !strings.Contains(said, "TestOld") {
		t.Errorf("people are told %q", said)
	}
}

// orders sends an order that depends on where the run is.
func orders(order func(workflow.Run) workflow.Event) act {
	return func(t *testing.T, run workflow.Run) workflow.Run { t.Helper(); return does(order(run))(t, run) }
}

func TestATimeOutIsNotBlamedOnTheChange(t *testing.T) {
	t.Parallel()
	simple, heal := ordinary(workflow.WorkflowSimple, true), ordinary(workflow.WorkflowHeal, true)
	heal.HasPlanner, heal.Tests, heal.Check = false, nil, &workflow.HealthCheck{Kind: workflow.HealthCommand, Command: "make test"}
	full, whole := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true)
	full.Stress, whole.TestsE2E = "make stress", []string{"make e2e"}
	tested := times(1, untilAction(workflow.CallAgent), well, well)
	checked := untilAction(workflow.WatchChecks)
	tell(t, []story{
		{"its tests run again", simple, []act{tested, testsEnd(timedOut)}, "RUNNING tdd-green run_tests S01/1"},
		{"and count then", simple, []act{tested, testsEnd(timedOut), testsEnd(otherThan)}, "RUNNING tdd-green call_agent S01/2"},
		{"twice asks a person", simple, []act{tested, times(2, testsEnd(timedOut))}, "NEEDS_INPUT tdd-green TESTS_NOT_SETTLED"},
		{"who has them run again", simple, []act{tested, times(2, testsEnd(timedOut)), resumed}, "RUNNING tdd-green run_tests S01/1"},
		{"the stress test's run again", full, []act{untilPhase(workflow.StressTest), testsEnd(timedOut)}, "RUNNING stress-test run_tests"},
		{"and ask a person, not the agent", full, []act{untilPhase(workflow.StressTest), times(2, testsEnd(timedOut))}, "NEEDS_INPUT stress-test TESTS_NOT_SETTLED"},
		{"the end-to-end tests' run again", whole, []act{tested, well, testsEnd(timedOut)}, "RUNNING tdd-green run_tests S01/1"},
		{"and ask a person in the end", whole, []act{tested, well, times(2, testsEnd(timedOut))}, "NEEDS_INPUT tdd-green TESTS_NOT_SETTLED"},
		{"the candidate's run again", simple, []act{checked, checks(workflow.ChecksUnsettled)}, "RUNNING ci-watch watch_checks"},
		{"and ask a person, too", simple, []act{checked, times(2, checks(workflow.ChecksUnsettled))}, "NEEDS_INPUT ci-watch TESTS_NOT_SETTLED"},
		{"a check that failed before and then took too long runs again", heal, []act{atBase, testsEnd(otherThan), untilPhase(workflow.TDDGreen), well, well, testsEnd(timedOut)}, "RUNNING tdd-green run_tests S01/1"},
		{"and asks a person, not the agent", heal, []act{atBase, testsEnd(otherThan), untilPhase(workflow.TDDGreen), well, well, times(2, testsEnd(timedOut))}, "NEEDS_INPUT tdd-green TESTS_NOT_SETTLED"},
		{"a check that took too long before counts", heal, []act{atBase, testsEnd(timedOut), untilPhase(workflow.TDDGreen), well, well, testsEnd(timedOut)}, "RUNNING tdd-green call_agent S01/2"},
	})
}

func TestARunThatIsLetGoOnDoesSoFromItsBaseBranch(t *testing.T) {
	t.Parallel()
	full, simple := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowSimple, true)
	failed := times(1, untilPhase(workflow.TDDGreen), times(4, well, well, testsFail))
	hung := times(3, agentFails("AGENT_HUNG"))
	first := times(1, untilAction(workflow.CallAgent), hung) // where nothing is recorded yet
	idle := times(1, untilPhase(workflow.TDDGreen), times(3, well, nothingChanges, testsFail))
	moved := does(workflow.Admitted{Epoch: 2, Base: "moved"})
	again := times(1, does(workflow.Retried{}), moved)
	there := does(workflow.Admitted{Epoch: 2, Base: "basec0002"})
	merged := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.BaseMerged{Outcome: o, Base: "moved", Commit: "merged"}
	})
	conflicts := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.BaseMerged{Outcome: o, Base: "moved", Commit: "merged", Conflicts: []string{"a.go"}}
	})
	within := answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.BaseMerged{Outcome: o, Base: "moved", Commit: run.Details.Head}
	})
	stopped := times(1, does(workflow.StopRequested{}), does(workflow.Resumed{}), moved)
	mended := times(1, untilPhase(workflow.ReviewRequest), reviewFinds)
	tell(t, []story{
		{"which is merged into what failed its tests", full, []act{failed, again}, "RUNNING tdd-green merge_base"},
		{"and they run again for nothing", full, []act{failed, again, merged}, "RUNNING tdd-green run_tests S02/5"},
		{"if they pass no one is paid", full, []act{failed, again, merged, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"else the agent goes on", full, []act{failed, again, merged, testsFail}, "RUNNING tdd-green call_agent S02/6"},
		{"who is told of conflicts", full, []act{failed, again, conflicts}, "RUNNING tdd-green call_agent S02/6"},
		{"which is in the change already", full, []act{failed, again, within}, "RUNNING tdd-green call_agent S02/5"},
		{"which is where it was", full, []act{failed, does(workflow.Retried{}), there}, "RUNNING tdd-green call_agent S02/5"},
		{"after an agent that hung, too", full, []act{untilPhase(workflow.TDDGreen), hung, again, merged}, "RUNNING tdd-green call_agent S02/4"},
		{"after one that changed nothing", full, []act{idle, again, merged}, "RUNNING tdd-green call_agent S02/4"},
		{"from the beginning where nothing is recorded", full, []act{first, again}, "RUNNING branch-create check_dependencies"},
		{"of a single step, too", simple, []act{first, again}, "RUNNING branch-create check_dependencies"},
		{"with the plan that it had", full, []act{untilPhase(workflow.TDDRed), hung, again, untilAction(workflow.CallAgent)}, "RUNNING tdd-red call_agent S01/5"},
		{"before its review", full, []act{untilPhase(workflow.ReviewRequest), hung, again}, "RUNNING review-fix merge_base"},
		{"which tests and reviews it again", full, []act{untilPhase(workflow.ReviewRequest), hung, again, merged, well}, "RUNNING review-request call_agent reviewer"},
		{"with the findings to fix", full, []act{mended, hung, again, merged}, "RUNNING review-fix call_agent R02/1"},
		{"and with a mend that failed its tests", full, []act{mended, times(4, well, well, testsFail), again, merged}, "RUNNING review-fix run_tests R01/4"},
		{"a run that has done nothing does so when it is resumed", full, []act{untilPhase(workflow.DesignRead), stopped}, "RUNNING branch-create check_dependencies"},
		{"one that has takes the base in", full, []act{untilPhase(workflow.TDDGreen), stopped, merged}, "RUNNING tdd-green call_agent S02/1"},
		{"unless work is still to be recorded", full, []act{untilPhase(workflow.TDDGreen), well, stopped}, "RUNNING tdd-green record_change S02/1"},
		{"or it was only cut off", full, []act{untilPhase(workflow.DesignRead), moved}, "RUNNING design-read read_design"},
		{"or interrupted", full, []act{untilPhase(workflow.TDDGreen), does(workflow.Interrupted{}), does(workflow.Resumed{}), moved}, "RUNNING tdd-green call_agent S02/1"},
	})
	run := lived(t, full, failed, again, conflicts)
	if reason := run.Details.Pending[0].Reason; !strings.Contains(reason, "these files conflict: a.go") || len(run.Details.Findings) > 0 {
		t.Errorf("the agent is told %q, and %v is found", reason, run.Details.Findings)
	}
}

func TestTheBaseIsTestedInTheImageThatThePlanChose(t *testing.T) {
	t.Parallel()
	s := ordinary(workflow.WorkflowFull, true)
	s.Images = map[string]string{"go": "golang", "node": "node"}
	detected := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.EnvironmentDetected{Outcome: o, Detection: workflow.Detection{Environment: "go"}}
	})
	chooses := func(name string) act {
		return plans(workflow.Plan{Environment: &workflow.PlanSetUp{Name: name, SetupCommands: []string{"make deps"}},
			Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01"}}}})
	}
	planned := times(1, untilAction(workflow.DetectEnvironment), detected, untilPhase(workflow.DesignCheck))
	tested := until(func(run workflow.Run) bool {
		return run.Details.Pending[0].Kind == workflow.RunTests || run.Details.Phase > workflow.DesignCheck
	})
	tell(t, []story{
		{"another image", s, []act{planned, chooses("node"), tested}, "RUNNING design-check run_tests"},
		{"where their program is missing, before the work is paid for", s, []act{planned, chooses("node"), tested, testsEnd(notFound)},
			"NEEDS_INPUT design-check TESTS_CANNOT_RUN"},
		{"the same image", s, []act{planned, chooses("go"), tested}, "RUNNING tdd-green call_agent S01/1"},
	})
	run := lived(t, s, planned, chooses("node"), tested, well, untilPhase(workflow.StressTest))
	if run.Details.Image() != "node" || run.Details.Pending[0].Purpose != workflow.StressTests {
		t.Errorf("the stress test runs with the image %q: %+v", run.Details.Image(), run.Details.Pending[0])
	}
}
