package workflow

import (
	"slices"
	"strings"
	"testing"
)

// on the base, or after a change, tests come to these.
func testsEnd(failures ...TestFailure) act {
	return answered(func(o Outcome, run Run) Event {
		e := TestsEnded{Outcome: o, Commit: run.Journey.Head, Command: "make test", Passed: true, Failures: failures}
		for i := range failures {
			failures[i].Command = firstOf(failures[i].Command, "make test")
			e.Passed = e.Passed && !failures[i].failed()
		}
		return e
	})
}

func named(names ...string) TestFailure { return TestFailure{ExitCode: 1, Tests: names} }

var (
	unnamed   = TestFailure{ExitCode: 1, Unnamed: true, Summary: "make test: exit code 1 after 7ms\nwrong"}
	notFound  = TestFailure{ExitCode: 127, Unnamed: true, Summary: "make test: exit code 127\nsh: make: not found"}
	noTests   = TestFailure{NoTests: true}
	timedOut  = TestFailure{ExitCode: -1, Unsettled: true, Unnamed: true}
	otherThan = TestFailure{ExitCode: 1, Unnamed: true, Summary: "make test: exit code 1 after 9ms\nwrong in another way"}
)

// atBase is a run whose tests are about to run on the base.
var atBase = untilAction(RunTests)

func TestTheBaseIsCheckedBeforeAnythingIsPaidFor(t *testing.T) {
	t.Parallel()
	full, simple, untested := ordinary(WorkflowFull, true), ordinary(WorkflowSimple, true), ordinary(WorkflowFull, true)
	untested.Tests = nil
	detected := answered(func(o Outcome, _ Run) Event {
		return EnvironmentDetected{Outcome: o, Detection: Detection{Environment: "go", SetUp: []string{"go mod download"}}}
	})
	free := times(1, untilAction(DetectEnvironment), detected, untilAction(RunSetUp))
	force := times(1, does(Resumed{Force: true}), does(Admitted{Epoch: 2}))
	corrected := ordinary(WorkflowSimple, true)
	corrected.Tests = []string{"go test ./..."}
	tell(t, []story{
		{"a planner is called after the tests ran", full, []act{atBase}, "RUNNING env-create run_tests"},
		{"and then once", full, []act{atBase, well, well}, "RUNNING design-read read_design"},
		{"without tests nothing is run", untested, []act{untilAction(CreateEnvironment), well}, "RUNNING design-read read_design"},
		{"without a planner they run after the set-up", simple, []act{atBase}, "RUNNING design-check run_tests"},
		{"and what they left is kept", simple, []act{atBase, well}, "RUNNING design-check keep_environment"},
		{"and then the work begins", simple, []act{atBase, well, well}, "RUNNING tdd-green call_agent S01/1"},
		{"tests that fail keep no run from its work", full, []act{atBase, testsEnd(named("TestOld")), well}, "RUNNING design-read read_design"},
		{"a program that is not there stops the run", full, []act{atBase, testsEnd(notFound)}, "NEEDS_INPUT env-create TESTS_CANNOT_RUN"},
		{"and so do tests that are none", simple, []act{atBase, testsEnd(noTests)}, "NEEDS_INPUT design-check TESTS_CANNOT_RUN"},
		{"resumed it begins with the base branch", simple, []act{atBase, testsEnd(notFound), resumed}, "RUNNING branch-create check_dependencies"},
		{"and with the corrected tests", simple, []act{atBase, testsEnd(notFound), does(Resumed{}), does(Admitted{Settings: &corrected}), untilAction(CallAgent)},
			"RUNNING tdd-green call_agent S01/1"},
		{"a person may want it to go on", full, []act{atBase, testsEnd(notFound), force, untilAction(ReadDesign)}, "RUNNING design-read read_design"},
		{"and it asks no second time", simple, []act{atBase, testsEnd(noTests), force, untilAction(CallAgent)}, "RUNNING tdd-green call_agent S01/1"},
		{"tests that did not end are run again", simple, []act{atBase, testsEnd(timedOut)}, "RUNNING design-check run_tests"},
		{"and then a person is asked", simple, []act{atBase, testsEnd(timedOut), testsEnd(timedOut)}, "NEEDS_INPUT design-check TESTS_NOT_SETTLED"},
		{"who has them run once more", simple, []act{atBase, times(2, testsEnd(timedOut)), resumed}, "RUNNING design-check run_tests"},
		{"a set-up that needs no model comes before the planner", full, []act{free}, "RUNNING env-create run_set_up"},
		{"and is the environment's before the tests run", full, []act{free, well}, "RUNNING env-create adopt_set_up"},
		{"one that fails leaves it to the plan, and no test runs", full, []act{free, setUpFails(FailureFixable)}, "RUNNING design-read read_design"},
		{"also where a person has to be asked later", strictly(full), []act{free, setUpFails(FailureFatal)}, "RUNNING design-read read_design"},
		{"then they run once the plan's set-up is there", full, []act{free, setUpFails(FailureFixable), untilAction(RunTests)}, "RUNNING design-check run_tests"},
		{"a crash on the way repeats what was in hand", full, []act{free, crash, well, crash, well, crash, well, crash}, "RUNNING env-create keep_environment"},
	})
}

func strictly(s Settings) Settings {
	s.StopOnSetUpFailure = true
	return s
}

func TestWhatFailedBeforeTheChangeIsNotItsToAnswerFor(t *testing.T) {
	t.Parallel()
	simple, manual := ordinary(WorkflowSimple, true), ordinary(WorkflowSimple, false)
	heal := ordinary(WorkflowHeal, true)
	heal.Check, heal.HasPlanner = &HealthCheck{Kind: HealthBranchTests}, false
	asked := named("TestOld")
	asked.Asked = []string{"TestOld"}
	after := func(base TestFailure, change ...TestFailure) []act {
		return []act{atBase, testsEnd(base), untilAction(CallAgent), well, well, testsEnd(change...)}
	}
	old := named("TestOld", "TestOlder")
	approved := orders(func(run Run) Event { return Approved{Commit: run.Journey.Head, By: "ada"} })
	tell(t, []story{
		{"fewer fail", simple, after(old, named("TestOld")), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"all of them still do", simple, after(old, old), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"one more fails", simple, after(old, named("TestOld", "TestNew")), "RUNNING tdd-green call_agent S01/2"},
		{"something without a name fails beside it", simple, after(old, TestFailure{ExitCode: 1, Tests: []string{"TestOld"}, Unnamed: true}), "RUNNING tdd-green call_agent S01/2"},
		{"another command fails", simple, after(old, TestFailure{Command: "make lint", ExitCode: 1, Tests: []string{"TestOld"}}), "RUNNING tdd-green call_agent S01/2"},
		{"the request names the test", simple, after(asked, named("TestOld")), "RUNNING tdd-green call_agent S01/2"},
		{"the run is to repair it", heal, after(old, old), "RUNNING tdd-green call_agent S01/2"},
		{"it has no name and fails alike: one more attempt", simple, after(unnamed, unnamed), "RUNNING tdd-green call_agent S01/2"},
		{"and no more than that", simple, append(after(unnamed, unnamed), well, well, testsEnd(unnamed)), "FAILED tdd-green TESTS_FAILED"},
		{"it has no name and fails otherwise", simple, append(after(unnamed, otherThan), times(2, well, well, testsEnd(otherThan))), "RUNNING tdd-green call_agent S01/4"},
		{"a person has agreed", simple, append(after(old, old), approved), "QUEUED approval-wait"},
		{"a person is asked anyway", manual, after(old, old), "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
	})
	run := lived(t, simple, after(old, old)...)
	if flags := strings.Join(run.Journey.Flags, "\n"); !strings.Contains(flags, "failed before the change and still do: TestOld, TestOlder") {
		t.Errorf("the person is shown %q", flags)
	}
	if last := run.Journey.Evidence[len(run.Journey.Evidence)-1]; last.Passed || !slices.Equal(last.Known, []string{"TestOld", "TestOlder"}) {
		t.Errorf("the evidence is %+v", last)
	}
	if said := strings.Join(run.Journey.Warnings(), "\n"); !strings.Contains(said, "TestOld") {
		t.Errorf("people are told %q", said)
	}
}

// orders sends an order that depends on where the run is.
func orders(order func(Run) Event) act {
	return func(t *testing.T, run Run) Run { t.Helper(); return does(order(run))(t, run) }
}

func TestATimeOutIsNotBlamedOnTheChange(t *testing.T) {
	t.Parallel()
	simple, heal := ordinary(WorkflowSimple, true), ordinary(WorkflowHeal, true)
	heal.HasPlanner, heal.Tests, heal.Check = false, nil, &HealthCheck{Kind: HealthCommand, Command: "make test"}
	full, whole := ordinary(WorkflowFull, true), ordinary(WorkflowSimple, true)
	full.Stress, whole.TestsE2E = "make stress", []string{"make e2e"}
	tested := times(1, untilAction(CallAgent), well, well)
	checked := untilAction(WatchChecks)
	tell(t, []story{
		{"its tests run again", simple, []act{tested, testsEnd(timedOut)}, "RUNNING tdd-green run_tests S01/1"},
		{"and count then", simple, []act{tested, testsEnd(timedOut), testsEnd(otherThan)}, "RUNNING tdd-green call_agent S01/2"},
		{"twice asks a person", simple, []act{tested, times(2, testsEnd(timedOut))}, "NEEDS_INPUT tdd-green TESTS_NOT_SETTLED"},
		{"who has them run again", simple, []act{tested, times(2, testsEnd(timedOut)), resumed}, "RUNNING tdd-green run_tests S01/1"},
		{"the stress test's run again", full, []act{untilPhase(StressTest), testsEnd(timedOut)}, "RUNNING stress-test run_tests"},
		{"and ask a person, not the agent", full, []act{untilPhase(StressTest), times(2, testsEnd(timedOut))}, "NEEDS_INPUT stress-test TESTS_NOT_SETTLED"},
		{"the end-to-end tests' run again", whole, []act{tested, well, testsEnd(timedOut)}, "RUNNING tdd-green run_tests S01/1"},
		{"and ask a person in the end", whole, []act{tested, well, times(2, testsEnd(timedOut))}, "NEEDS_INPUT tdd-green TESTS_NOT_SETTLED"},
		{"the candidate's run again", simple, []act{checked, checks(ChecksUnsettled)}, "RUNNING ci-watch watch_checks"},
		{"and ask a person, too", simple, []act{checked, times(2, checks(ChecksUnsettled))}, "NEEDS_INPUT ci-watch TESTS_NOT_SETTLED"},
		{"a check that took too long before counts", heal, []act{atBase, testsEnd(timedOut), untilPhase(TDDGreen), well, well, testsEnd(timedOut)}, "RUNNING tdd-green call_agent S01/2"},
	})
}

func TestARunThatIsLetGoOnDoesSoFromItsBaseBranch(t *testing.T) {
	t.Parallel()
	full, simple := ordinary(WorkflowFull, true), ordinary(WorkflowSimple, true)
	failed := times(1, untilPhase(TDDGreen), times(4, well, well, testsFail))
	hung := times(3, agentFails("AGENT_HUNG"))
	first := times(1, untilAction(CallAgent), hung) // where nothing is recorded yet
	idle := times(1, untilPhase(TDDGreen), times(3, well, nothingChanges, testsFail))
	moved := does(Admitted{Epoch: 2, Base: "moved"})
	again := times(1, does(Retried{}), moved)
	there := does(Admitted{Epoch: 2, Base: "basec0002"})
	merged := answered(func(o Outcome, _ Run) Event { return BaseMerged{Outcome: o, Base: "moved", Commit: "merged"} })
	conflicts := answered(func(o Outcome, _ Run) Event {
		return BaseMerged{Outcome: o, Base: "moved", Commit: "merged", Conflicts: []string{"a.go"}}
	})
	within := answered(func(o Outcome, run Run) Event {
		return BaseMerged{Outcome: o, Base: "moved", Commit: run.Journey.Head}
	})
	stopped := times(1, does(StopRequested{}), does(Resumed{}), moved)
	mended := times(1, untilPhase(ReviewRequest), reviewFinds)
	tell(t, []story{
		{"which is merged into what failed its tests", full, []act{failed, again}, "RUNNING tdd-green merge_base"},
		{"and they run again for nothing", full, []act{failed, again, merged}, "RUNNING tdd-green run_tests S02/5"},
		{"if they pass no one is paid", full, []act{failed, again, merged, well}, "RUNNING tdd-refactor call_agent S03/1"},
		{"else the agent goes on", full, []act{failed, again, merged, testsFail}, "RUNNING tdd-green call_agent S02/6"},
		{"who is told of conflicts", full, []act{failed, again, conflicts}, "RUNNING tdd-green call_agent S02/6"},
		{"which is in the change already", full, []act{failed, again, within}, "RUNNING tdd-green call_agent S02/5"},
		{"which is where it was", full, []act{failed, does(Retried{}), there}, "RUNNING tdd-green call_agent S02/5"},
		{"after an agent that hung, too", full, []act{untilPhase(TDDGreen), hung, again, merged}, "RUNNING tdd-green call_agent S02/4"},
		{"after one that changed nothing", full, []act{idle, again, merged}, "RUNNING tdd-green call_agent S02/4"},
		{"from the beginning where nothing is recorded", full, []act{first, again}, "RUNNING branch-create check_dependencies"},
		{"of a single step, too", simple, []act{first, again}, "RUNNING branch-create check_dependencies"},
		{"with the plan that it had", full, []act{untilPhase(TDDRed), hung, again, untilAction(CallAgent)}, "RUNNING tdd-red call_agent S01/5"},
		{"before its review", full, []act{untilPhase(ReviewRequest), hung, again}, "RUNNING review-fix merge_base"},
		{"which tests and reviews it again", full, []act{untilPhase(ReviewRequest), hung, again, merged, well}, "RUNNING review-request call_agent reviewer"},
		{"with the findings to mend", full, []act{mended, hung, again, merged}, "RUNNING review-fix call_agent R02/1"},
		{"and with a mend that failed its tests", full, []act{mended, times(4, well, well, testsFail), again, merged}, "RUNNING review-fix run_tests R01/4"},
		{"a run that has done nothing does so when it is resumed", full, []act{untilPhase(DesignRead), stopped}, "RUNNING branch-create check_dependencies"},
		{"one that has takes the base in", full, []act{untilPhase(TDDGreen), stopped, merged}, "RUNNING tdd-green call_agent S02/1"},
		{"unless work is still to be recorded", full, []act{untilPhase(TDDGreen), well, stopped}, "RUNNING tdd-green record_change S02/1"},
		{"or it was only cut off", full, []act{untilPhase(DesignRead), moved}, "RUNNING design-read read_design"},
		{"or interrupted", full, []act{untilPhase(TDDGreen), does(Interrupted{}), does(Resumed{}), moved}, "RUNNING tdd-green call_agent S02/1"},
	})
	run := lived(t, full, failed, again, conflicts)
	if reason := run.Journey.Pending[0].Reason; !strings.Contains(reason, "these files conflict: a.go") || len(run.Journey.Findings) > 0 {
		t.Errorf("the agent is told %q, and %v is found", reason, run.Journey.Findings)
	}
}
