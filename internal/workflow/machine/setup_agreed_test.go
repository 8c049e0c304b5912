package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

// attack is the setup of the field trial: what it exports makes every test pass.
var attack = &workflow.PlanSetUp{Name: "go", SetupCommands: []string{`mkdir -p "$HOME/bin"`, `export PATH="$HOME/bin:$PATH"`},
	Verification: []workflow.Verification{{Command: "echo OK", Expected: "OK"}}}

func planned(environment *workflow.PlanSetUp) act {
	p := plan
	p.Environment = environment
	return times(1, untilAction(workflow.CallAgent), plans(p))
}

var unknownHere = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event { return workflow.AgreementFound{Outcome: o} })

// asked is a run whose setup is by a model and whose change is ready.
var asked = times(1, planned(attack), untilAction(workflow.FindAgreement), unknownHere)

// neverAsked comes to the pull request by itself.
var neverAsked = until(func(run workflow.Run) bool {
	return run.Details.Phase == workflow.PRCreate || run.Details.Pending[0].Kind == workflow.FindAgreement
})

var agrees = answeredByPerson(func(run workflow.Run) workflow.Event { return workflow.Approved{Commit: run.Details.Head, By: "ada"} })

func answeredByPerson(says func(workflow.Run) workflow.Event) act {
	return func(t *testing.T, run workflow.Run) workflow.Run { t.Helper(); return does(says(run))(t, run) }
}

func TestASetUpOfAModelNeedsAPerson(t *testing.T) {
	t.Parallel()
	auto, manual := ordinary(workflow.WorkflowFull, true), ordinary(workflow.WorkflowFull, false)
	detected := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.EnvironmentDetected{Outcome: o, Detection: workflow.Detection{Environment: "go", SetUp: attack.SetupCommands, Verification: attack.Verification}}
	})
	fixed := times(1, untilAction(workflow.RunSetUp), setUpFails(workflow.FailureFixable), well)
	configured := ordinary(workflow.WorkflowFull, true)
	configured.SetUp = attack.SetupCommands
	noPlanner := ordinary(workflow.WorkflowSimple, true)
	tell(t, []story{
		{"with automatic approval", auto, []act{asked}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"with manual approval", manual, []act{asked}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"who agreed in an earlier run", auto, []act{planned(attack), untilAction(workflow.FindAgreement), well}, "RUNNING pr-create open_pull_request"},
		{"whose agreement is kept before anything is offered", auto, []act{asked, agrees, until(func(workflow.Run) bool { return true })}, "RUNNING approval-wait keep_agreement"},
		{"whose agreement lets it merge", auto, []act{asked, agrees, toTheEnd}, "DONE parent-close"},
		{"who is asked again when they only resume", auto, []act{asked, resumed, unknownHere}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"unless the project's files say the same", auto, []act{untilAction(workflow.DetectEnvironment), detected, planned(attack), neverAsked}, "RUNNING pr-create open_pull_request"},
		{"but not for the project's files", noPlanner, []act{untilAction(workflow.DetectEnvironment), detected, neverAsked}, "RUNNING pr-create open_pull_request"},
		{"nor for the configuration", configured, []act{planned(attack), neverAsked}, "RUNNING pr-create open_pull_request"},
		{"when a model corrected the project's own", noPlanner, []act{untilAction(workflow.DetectEnvironment), detected, fixed, untilAction(workflow.FindAgreement), unknownHere}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"not when it failed, because the candidate then starts without one", auto, []act{planned(attack), untilAction(workflow.RunSetUp), setUpFails(workflow.FailureFatal), neverAsked}, "RUNNING pr-create open_pull_request"},
	})
}

func TestTheQuestionNamesEachCommandInFull(t *testing.T) {
	t.Parallel()
	tricky := *attack
	tricky.SetupCommands = append(tricky.SetupCommands, "echo \x1b[8mhidden\x1b[0m", "first\nsecond", strings.Repeat("x", 3000))
	run := lived(t, ordinary(workflow.WorkflowFull, true), planned(&tricky), untilAction(workflow.FindAgreement), unknownHere)
	for _, want := range []string{`mkdir -p "$HOME/bin"`, `export PATH="$HOME/bin:$PATH"`, `"echo \x1b[8mhidden\x1b[0m"`, `"first\nsecond"`,
		strings.Repeat("x", 3000), `echo OK   (verification, prints "OK")`} {
		if !strings.Contains(run.Error.Message, "\n    "+want) {
			t.Errorf("%.60q is missing in %s", want, run.Error.Message)
		}
	}
}

func TestAnAgreementHoldsForExactlyOneContent(t *testing.T) {
	t.Parallel()
	a := workflow.SetUp{Source: workflow.SetUpByPlan, Status: "success", Name: "go", Commands: []string{"a", "b"}, Verification: []workflow.Verification{{Command: "v", Expected: "OK"}}}
	a.Agreed = &workflow.Agreement{Content: a.Content(), By: "ada", At: epoch}
	if a.NeedsAgreement() {
		t.Error("what was agreed to needs another agreement")
	}
	for name, change := range map[string]func(*workflow.SetUp){
		"another name":            func(s *workflow.SetUp) { s.Name = "node" },
		"another order":           func(s *workflow.SetUp) { s.Commands = []string{"b", "a"} },
		"two commands as one":     func(s *workflow.SetUp) { s.Commands = []string{"a,b"} },
		"another verification":    func(s *workflow.SetUp) { s.Verification = []workflow.Verification{{Command: "w", Expected: "OK"}} },
		"another expected output": func(s *workflow.SetUp) { s.Verification = []workflow.Verification{{Command: "v", Expected: ""}} },
		"a command that verifies": func(s *workflow.SetUp) {
			s.Commands, s.Verification = nil, []workflow.Verification{{Command: "a"}, {Command: "b"}}
		},
		"an agreement of somewhat": func(s *workflow.SetUp) { s.Agreed = &workflow.Agreement{} },
	} {
		other := a
		if change(&other); !other.NeedsAgreement() {
			t.Errorf("%s needs no agreement", name)
		}
	}
}

func TestAnApprovalOfTheChangeAloneIsNoneOfTheSetUp(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), asked, agrees)
	run.Details.Approval.SetUp = "" // as a version saved it that did not ask
	run = until(func(run workflow.Run) bool { return run.Details.Pending[0].Kind == workflow.FindAgreement })(t, run)
	if got := where(unknownHere(t, run)); got != "NEEDS_INPUT approval-wait APPROVAL_REQUIRED" {
		t.Error(got)
	}
}

func TestARunThatAnOlderVersionLetPassGoesBackToThePerson(t *testing.T) {
	t.Parallel()
	for _, at := range []workflow.ActionKind{workflow.OpenPullRequest, workflow.WatchChecks, workflow.MergePullRequest} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), asked, agrees, untilAction(at))
		run.Details.SetUp.Agreed, run.Details.Approval = nil, nil
		if got := where(crash(t, run)); got != "RUNNING approval-wait find_agreement" {
			t.Errorf("at %s: %s", at, got)
		}
	}
}
