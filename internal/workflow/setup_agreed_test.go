package workflow

import (
	"strings"
	"testing"
)

// attack is the set-up of the field trial: what it exports makes every test pass.
var attack = &PlanSetUp{Name: "go", SetupCommands: []string{`mkdir -p "$HOME/bin"`, `export PATH="$HOME/bin:$PATH"`},
	Verification: []Verification{{Command: "echo OK", Expected: "OK"}}}

func planned(environment *PlanSetUp) act {
	p := plan
	p.Environment = environment
	return times(1, untilAction(CallAgent), plans(p))
}

var unknownHere = answered(func(o Outcome, _ Run) Event { return AgreementFound{Outcome: o} })

// asked is a run whose set-up is by a model and whose change is ready.
var asked = times(1, planned(attack), untilAction(FindAgreement), unknownHere)

// neverAsked comes to the pull request by itself.
var neverAsked = until(func(run Run) bool {
	return run.Journey.Phase == PRCreate || run.Journey.Pending[0].Kind == FindAgreement
})

var agrees = answeredByPerson(func(run Run) Event { return Approved{Commit: run.Journey.Head, By: "ada"} })

func answeredByPerson(says func(Run) Event) act {
	return func(t *testing.T, run Run) Run { t.Helper(); return does(says(run))(t, run) }
}

func TestASetUpOfAModelNeedsAPerson(t *testing.T) {
	t.Parallel()
	auto, manual := ordinary(WorkflowFull, true), ordinary(WorkflowFull, false)
	detected := answered(func(o Outcome, _ Run) Event {
		return EnvironmentDetected{Outcome: o, Detection: Detection{Environment: "go", SetUp: attack.SetupCommands, Verification: attack.Verification}}
	})
	fixed := times(1, untilAction(RunSetUp), setUpFails(FailureFixable), well)
	configured := ordinary(WorkflowFull, true)
	configured.SetUp = attack.SetupCommands
	noPlanner := ordinary(WorkflowSimple, true)
	tell(t, []story{
		{"with automatic approval", auto, []act{asked}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"with manual approval", manual, []act{asked}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"who agreed in an earlier run", auto, []act{planned(attack), untilAction(FindAgreement), well}, "RUNNING pr-create open_pull_request"},
		{"whose agreement is kept before anything is offered", auto, []act{asked, agrees, until(func(Run) bool { return true })}, "RUNNING approval-wait keep_agreement"},
		{"whose agreement lets it merge", auto, []act{asked, agrees, toTheEnd}, "DONE parent-close"},
		{"who is asked again when they only resume", auto, []act{asked, resumed, unknownHere}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"unless the project's files say the same", auto, []act{untilAction(DetectEnvironment), detected, planned(attack), neverAsked}, "RUNNING pr-create open_pull_request"},
		{"but not for the project's files", noPlanner, []act{untilAction(DetectEnvironment), detected, neverAsked}, "RUNNING pr-create open_pull_request"},
		{"nor for the configuration", configured, []act{planned(attack), neverAsked}, "RUNNING pr-create open_pull_request"},
		{"when a model corrected the project's own", noPlanner, []act{untilAction(DetectEnvironment), detected, fixed, untilAction(FindAgreement), unknownHere}, "NEEDS_INPUT approval-wait APPROVAL_REQUIRED"},
		{"not when it failed, because the candidate then starts without one", auto, []act{planned(attack), untilAction(RunSetUp), setUpFails(FailureFatal), neverAsked}, "RUNNING pr-create open_pull_request"},
	})
}

func TestTheQuestionNamesEachCommandInFull(t *testing.T) {
	t.Parallel()
	tricky := *attack
	tricky.SetupCommands = append(tricky.SetupCommands, "echo \x1b[8mhidden\x1b[0m", "first\nsecond", strings.Repeat("x", 3000))
	run := lived(t, ordinary(WorkflowFull, true), planned(&tricky), untilAction(FindAgreement), unknownHere)
	for _, want := range []string{`mkdir -p "$HOME/bin"`, `export PATH="$HOME/bin:$PATH"`, `"echo \x1b[8mhidden\x1b[0m"`, `"first\nsecond"`,
		strings.Repeat("x", 3000), `echo OK   (verification, prints "OK")`} {
		if !strings.Contains(run.Error.Message, "\n    "+want) {
			t.Errorf("%.60q is missing in %s", want, run.Error.Message)
		}
	}
}

func TestAnAgreementHoldsForExactlyOneContent(t *testing.T) {
	t.Parallel()
	a := SetUp{Source: SetUpByPlan, Status: "success", Name: "go", Commands: []string{"a", "b"}, Verification: []Verification{{Command: "v", Expected: "OK"}}}
	a.Agreed = &Agreement{Content: a.Content(), By: "ada", At: epoch}
	if a.NeedsAgreement() {
		t.Error("what was agreed to needs another agreement")
	}
	for name, change := range map[string]func(*SetUp){
		"another name":             func(s *SetUp) { s.Name = "node" },
		"another order":            func(s *SetUp) { s.Commands = []string{"b", "a"} },
		"two commands as one":      func(s *SetUp) { s.Commands = []string{"a,b"} },
		"another verification":     func(s *SetUp) { s.Verification = []Verification{{Command: "w", Expected: "OK"}} },
		"another expected output":  func(s *SetUp) { s.Verification = []Verification{{Command: "v", Expected: ""}} },
		"a command that verifies":  func(s *SetUp) { s.Commands, s.Verification = nil, []Verification{{Command: "a"}, {Command: "b"}} },
		"an agreement of somewhat": func(s *SetUp) { s.Agreed = &Agreement{} },
	} {
		other := a
		if change(&other); !other.NeedsAgreement() {
			t.Errorf("%s needs no agreement", name)
		}
	}
}

func TestAnApprovalOfTheChangeAloneIsNoneOfTheSetUp(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), asked, agrees)
	run.Journey.Approval.SetUp = "" // as a version saved it that did not ask
	run = until(func(run Run) bool { return run.Journey.Pending[0].Kind == FindAgreement })(t, run)
	if got := where(unknownHere(t, run)); got != "NEEDS_INPUT approval-wait APPROVAL_REQUIRED" {
		t.Error(got)
	}
}

func TestARunThatAnOlderVersionLetPassGoesBackToThePerson(t *testing.T) {
	t.Parallel()
	for _, at := range []ActionKind{OpenPullRequest, WatchChecks, MergePullRequest} {
		run := lived(t, ordinary(WorkflowFull, true), asked, agrees, untilAction(at))
		run.Journey.SetUp.Agreed, run.Journey.Approval = nil, nil
		if got := where(crash(t, run)); got != "RUNNING approval-wait find_agreement" {
			t.Errorf("at %s: %s", at, got)
		}
	}
}
