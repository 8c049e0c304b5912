package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestSetUp(t *testing.T) {
	t.Parallel()
	full, strict := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, true)
	strict.StopOnSetUpFailure = true
	alone := ordinary(workflow.WorkflowFull, true)
	alone.NoRepairer = true
	untested := ordinary(workflow.WorkflowFull, true)
	untested.Tests = nil
	withSetUp := plan
	withSetUp.Environment = setUp
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	warm := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RestoreEnvironment), renewed(true))
	waited := func(n int, class workflow.FailureClass) act { return times(n, setUpFails(class), well) }
	repaired := func(n int) act { return times(n, setUpFails(workflow.FailureFixable), well) }
	tell(t, []story{
		{"a network failure waits 5 seconds", full, []act{begun, setUpFails(workflow.FailureNetwork)}, "RUNNING design-check wait 5s run_set_up"},
		{"a second one waits 10", full, []act{begun, waited(1, workflow.FailureNetwork), setUpFails(workflow.FailureNetwork)}, "RUNNING design-check wait 10s run_set_up"},
		{"a third one waits 20", full, []act{begun, waited(2, workflow.FailureNetwork), setUpFails(workflow.FailureNetwork)}, "RUNNING design-check wait 20s run_set_up"},
		{"a fourth one tells the people on the forge", full, []act{begun, waited(3, workflow.FailureNetwork), setUpFails(workflow.FailureNetwork)}, "RUNNING design-check post_comment"},
		{"a server's failure waits 10 seconds each time", full, []act{begun, waited(2, workflow.FailureServer), setUpFails(workflow.FailureServer)}, "RUNNING design-check wait 10s run_set_up"},
		{"a fourth failure of a server is the last", full, []act{begun, waited(3, workflow.FailureServer), setUpFails(workflow.FailureServer)}, "RUNNING design-check post_comment"},
		{"a held lock waits 3 seconds", full, []act{begun, waited(4, workflow.FailureLock), setUpFails(workflow.FailureLock)}, "RUNNING design-check wait 3s run_set_up"},
		{"a lock held for the sixth time is the end of waiting", full, []act{begun, waited(5, workflow.FailureLock), setUpFails(workflow.FailureLock)}, "RUNNING design-check post_comment"},
		{"a wrong command is given to the model", full, []act{begun, setUpFails(workflow.FailureFixable)}, "RUNNING design-check call_agent repairer"},
		{"unless none is there to correct it", alone, []act{begun, setUpFails(workflow.FailureFixable)}, "RUNNING design-check post_comment"},
		{"a third correction is still asked for", full, []act{begun, repaired(2), setUpFails(workflow.FailureFixable)}, "RUNNING design-check call_agent repairer"},
		{"a fourth is not", full, []act{begun, repaired(3), setUpFails(workflow.FailureFixable)}, "RUNNING design-check post_comment"},
		{"a failed verification counts among the corrections", full, []act{begun, repaired(2), well, repaired(1), well, setUpFails(workflow.FailureFixable)},
			"RUNNING design-check post_comment"},
		{"an answer of the repairer that cannot be used ends the setup", full, []act{begun, setUpFails(workflow.FailureFixable), times(3, answerIsRefused)},
			"RUNNING design-check post_comment"},
		{"a repairer that cannot be started ends the setup", full, []act{begun, setUpFails(workflow.FailureFixable), agentFails("AGENT_UNAVAILABLE")},
			"RUNNING design-check post_comment"},
		{"and so does one that fails three times", full, []act{begun, setUpFails(workflow.FailureFixable), times(3, agentFails("AGENT_NO_ANSWER"))},
			"RUNNING design-check post_comment"},
		{"or stops the run where the configuration says so", strict, []act{begun, setUpFails(workflow.FailureFixable), agentFails("AGENT_UNAVAILABLE")},
			"NEEDS_INPUT design-check SETUP_FAILED"},
		{"a fatal failure is tried no more", full, []act{begun, setUpFails(workflow.FailureFatal)}, "RUNNING design-check post_comment"},
		{"after a failed setup the tests run before anything is changed", full, []act{begun, setUpFails(workflow.FailureFatal), well}, "RUNNING design-check run_tests"},
		{"and the work goes on", full, []act{begun, setUpFails(workflow.FailureFatal), well, well}, "RUNNING tdd-red call_agent S01/1"},
		{"whatever they say", full, []act{begun, setUpFails(workflow.FailureFatal), well, testsFail}, "RUNNING tdd-red call_agent S01/1"},
		{"and where there are none", untested, []act{begun, setUpFails(workflow.FailureFatal), well}, "RUNNING tdd-red call_agent S01/1"},
		{"tests that failed before are tried once more", full, []act{begun, setUpFails(workflow.FailureFatal), well, testsFail, untilPhase(workflow.TDDGreen), well, well, testsFail}, "RUNNING tdd-green call_agent S02/2"},
		{"and are not what all attempts are spent on", full, []act{begun, setUpFails(workflow.FailureFatal), well, testsFail, untilPhase(workflow.TDDGreen), times(2, well, well, testsFail)}, "FAILED tdd-green TESTS_FAILED"},
		{"a failed setup stops where the configuration says so", strict, []act{begun, setUpFails(workflow.FailureFatal)}, "NEEDS_INPUT design-check SETUP_FAILED"},
		{"and begins with its first command when it is resumed", strict, []act{begun, well, setUpFails(workflow.FailureFatal), resumed},
			"RUNNING design-check renew_environment"},
		{"a verified setup is kept", full, []act{begun, well, well}, "RUNNING design-check keep_environment"},
		{"and leads to the first step", full, []act{begun, well, well, well}, "RUNNING tdd-red call_agent S01/1"},
		{"one that cannot be kept does as well", full, []act{begun, well, well, cannotKeep}, "RUNNING tdd-red call_agent S01/1"},
		{"a kept setup is only verified", full, []act{warm, well}, "RUNNING tdd-red call_agent S01/1"},
		{"and made anew when it does not verify", full, []act{warm, setUpFails(workflow.FailureNetwork)}, "RUNNING design-check renew_environment"},
		{"with all its commands, whatever the driver finds", full, []act{warm, setUpFails(workflow.FailureFixable), renewed(true)}, "RUNNING design-check run_set_up"},
		{"the waits are granted anew to a corrected command", full, []act{begun, waited(3, workflow.FailureNetwork), repaired(1), setUpFails(workflow.FailureNetwork)},
			"RUNNING design-check wait 5s run_set_up"},
		{"the waits are granted anew to the next command", full, []act{begun, waited(3, workflow.FailureNetwork), well, setUpFails(workflow.FailureNetwork)},
			"RUNNING design-check wait 5s run_set_up"},
	})
}

func TestAFailedSetUpIsShownAsFailed(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp), setUpFails(workflow.FailureFatal))
	comment := run.Details.Pending[0].Reason
	for _, part := range []string{"go", "no such host", "network retries: 0", "0/3", "fatal"} {
		if !strings.Contains(comment, part) {
			t.Errorf("the comment lacks %q:\n%s", part, comment)
		}
	}
	run = testsFail(t, well(t, run))
	if said := strings.Join(run.Details.Warnings(), "\n"); !strings.Contains(said, "failed before anything was changed: 1 failed") {
		t.Errorf("people are told %q", said)
	}
	if got := run.Details.SetUp.Status; got != "failed" {
		t.Errorf("overall_status is %q", got)
	}
	if note := run.Details.Phases[workflow.DesignCheck].Note; !strings.Contains(note, "warning") {
		t.Errorf("design-check's note %q warns of nothing", note)
	}
}

func TestAWorkflowWithoutDesignCheckSaysAllTheSameWhatBecameOfTheSetUp(t *testing.T) {
	t.Parallel()
	simple := ordinary(workflow.WorkflowSimple, true)
	simple.SetUp = []string{"npm ci"}
	begun := untilAction(workflow.RunSetUp)
	for _, c := range []struct {
		name, want string
		acts       []act
	}{
		{"it failed", "warning: the environment's setup failed", []act{begun, setUpFails(workflow.FailureFatal), well, well}},
		{"it is there", "set up and verified", []act{begun, well, well, well, well}},
	} {
		note := lived(t, simple, c.acts...).Details.Phases[workflow.DesignCheck].Note
		if !strings.HasPrefix(note, `not in the workflow "simple"; `) || !strings.Contains(note, c.want) {
			t.Errorf("%s, and design-check says %q", c.name, note)
		}
	}
}

func TestVerificationComparesWithTheExpectedOutput(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	if first := run.Details.Pending[0]; first.Expected != nil || first.Commands[0] != "go mod download" {
		t.Errorf("the setup command is ordered as %+v", first)
	}
	run = well(t, run)
	if second := run.Details.Pending[0]; second.Expected == nil || *second.Expected != "OK" || second.Commands[0] != "echo OK" {
		t.Errorf("the verification is ordered as %+v", second)
	}
}

func TestTheFirstWordOnASetUpCounts(t *testing.T) {
	t.Parallel()
	detected := &workflow.Detection{Environment: "node", SetUp: []string{"npm ci"}, Verification: []workflow.Verification{{Command: "npm ls"}},
		Defaults: map[string]workflow.DefaultSetUp{"go": {SetUp: []string{"go mod download"}}}}
	configured := workflow.Settings{EnvironmentName: "go", SetUp: []string{"make deps"}}
	for _, c := range []struct {
		name     string
		settings workflow.Settings
		found    *workflow.Detection
		planned  *workflow.PlanSetUp
		want     string
	}{
		{"nothing says anything", workflow.Settings{}, nil, nil, ""},
		{"the project's files are followed", workflow.Settings{}, detected, nil, "detection node [npm ci]"},
		{"a planner knows better", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "node", SetupCommands: []string{"pnpm i"}}, "plan node [pnpm i]"},
		{"a planner without commands gets the detected ones", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "node"}, "detection node [npm ci]"},
		{"and so does one that says the same", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "node", SetupCommands: []string{"npm ci"}}, "detection node [npm ci]"},
		{"not one with a verification of its own", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "node", Verification: []workflow.Verification{{Command: "evil"}}}, "plan node [npm ci]"},
		{"those of another environment are that one's own", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "go"}, "defaults go [go mod download]"},
		{"which may be none, under its own name", workflow.Settings{}, detected, &workflow.PlanSetUp{Name: "java"}, "defaults java []"},
		{"the configuration's name is above the plan's", workflow.Settings{EnvironmentName: "go"}, detected, &workflow.PlanSetUp{Name: "node"}, "defaults go [go mod download]"},
		{"nothing where the configuration says that nothing is to be set up", workflow.Settings{NoSetUp: true}, detected, &workflow.PlanSetUp{SetupCommands: []string{"x"}}, ""},
		{"a planner without a name means python", workflow.Settings{}, detected, &workflow.PlanSetUp{SetupCommands: []string{"x"}}, "plan python [x]"},
		{"the configuration is above both", configured, detected, &workflow.PlanSetUp{Name: "node", SetupCommands: []string{"pnpm i"}}, "configuration go [make deps]"},
	} {
		j := workflow.Details{Settings: c.settings, Detection: c.found}
		got := ""
		if s := j.ChosenSetUp(c.planned); s != nil {
			got = s.Source + " " + s.Name + " [" + strings.Join(s.Commands, ", ") + "]"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAPlanMayOnlyNameAKnownEnvironment(t *testing.T) {
	t.Parallel()
	s := ordinary(workflow.WorkflowFull, true)
	s.Environments = []string{"go", "node"}
	unknown := plan
	unknown.Environment = &workflow.PlanSetUp{Name: "cobol"}
	tell(t, []story{{"the planner is asked again", s, []act{untilAction(workflow.CallAgent), plans(unknown)}, "RUNNING design-check call_agent planner"}})
}

func TestAResumedSetUpSaysWhatIsDoneNext(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	for _, c := range []struct {
		name, want string
		acts       []act
	}{
		{"a command", "setup 1 of 1: go mod download", []act{begun}},
		{"one that is waited for", "setup 1 of 1: go mod download", []act{begun, setUpFails(workflow.FailureNetwork)}},
		{"a verification", "verifying 1 of 1: echo OK", []act{begun, well}},
		{"a correction", "having the setup corrected, 1 of 3: ", []act{begun, setUpFails(workflow.FailureFixable)}},
		{"keeping", `keeping the environment "go"`, []act{begun, well, well}},
	} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), append(c.acts, crash)...)
		if got := run.Progress.Message; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhatAPersonShouldKnowOfASetUpIsSaid(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	warm := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RestoreEnvironment), renewed(true))
	loose := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.SnapshotTaken{Outcome: o, Untracked: []string{"a\x1b.txt", "b.txt"}}
	})
	for _, c := range []struct {
		name string
		acts []act
		want []string
	}{
		{"nothing", []act{warm, well}, nil},
		{"that what was kept did not do", []act{warm, setUpFails(workflow.FailureFixable), renewed(false), well, well, well}, []string{"the setup was run from nothing, because what was kept does not work any more: "}},
		{"that it failed", []act{warm, setUpFails(workflow.FailureFixable), renewed(false), setUpFails(workflow.FailureFatal)}, []string{"the environment's setup failed: ", "the setup was run from nothing"}},
		{"which files were lost", []act{warm, setUpFails(workflow.FailureFixable), renewed(false), well, well, loose}, []string{"the setup was run", "the setup wrote a?.txt, b.txt: "}},
	} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), c.acts...)
		got := run.Details.Warnings()
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.name, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) {
				t.Errorf("%s: %q, want %q", c.name, got[i], c.want[i])
			}
		}
	}
}

func TestAStopOfASetUpSaysWhatWasStoppedAndHowToMendTheCommands(t *testing.T) {
	t.Parallel()
	strict := ordinary(workflow.WorkflowFull, true)
	strict.StopOnSetUpFailure = true
	withSetUp := plan
	withSetUp.Environment = setUp
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	if got := lived(t, strict, begun, does(workflow.StopRequested{})).Error.Message; got != "stopped while setting up the environment" {
		t.Errorf("a person's stop says %q", got)
	}
	steps := lived(t, strict, begun, setUpFails(workflow.FailureFatal)).Error.Next
	if last := said(steps[len(steps)-1]); !strings.Contains(last, "stop 42 cancel") || !strings.Contains(last, "run 42") {
		t.Errorf("a run whose settings stand is mended by %q", last)
	}
}
