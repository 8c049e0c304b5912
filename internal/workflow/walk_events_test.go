package workflow

import (
	"fmt"
	"strings"
)

// eventsFor is everything that can happen to a run: every order, and every
// outcome of the action that would be performed now.
func eventsFor(r Run) []Event {
	head := r.Journey.Head
	events := []Event{Admitted{Epoch: 1}, Named{Program: "./agent.sh"}, Waiting{For: "a slot"}, Interrupted{}, Prepared{}, WorkLaid{Commit: "upon"}, SessionBegan{}, SessionUsed{Usage: Usage{OutputTokens: 1}}, WorkFound{Ref: "refs/signalbox/kept/42/found"}, StopRequested{}, StopRequested{Cancel: true}, Resumed{}, Resumed{Force: true}, Retried{},
		Approved{Commit: head, By: "ada"}, Approved{Commit: "of another time"}, Rejected{Reason: "no"}}
	if commit := fmt.Sprintf("p%04d", r.Journey.Orders); r.Journey.Settings.Workflow == WorkflowCustom && len(r.Journey.Moves) == 0 { // see movable; one tells all
		kept := "refs/signalbox/kept/42/" + commit
		events = append(events, BranchMoved{Commit: commit, OnTop: true, Commits: 2, By: []string{"Ada"}, KeptRef: kept},
			BranchMoved{Commit: commit, Commits: 1, By: []string{"Ada"}, KeptRef: kept})
	}
	if r.Journey.FromBase {
		events = append(events, Admitted{Epoch: 1, Base: "moved"})
	}
	if r.Journey.Settings.Workflow == WorkflowCustom && len(r.Journey.Moves) == 0 {
		events = append(events, SyncOrdered{})
	}
	if len(r.Journey.Pending) > 0 {
		a := r.Journey.Pending[0]
		events = append(events, outcomes(r, a)...)
		events = append(events, Merged{Outcome: Outcome{Key: "never asked for"}})
	}
	return events
}

var setUp = &PlanSetUp{Name: "go", SetupCommands: []string{"go mod download"},
	Verification: []Verification{{Command: "echo OK", Expected: "OK"}}}

var plan = Plan{Goal: "g",
	Actions: ActionPlan{Steps: []PlannedStep{{StepID: "S01", Title: "Test", Phase: "tdd-red"}, {StepID: "S02", Title: "Fix"},
		{StepID: "S03", Title: "Tidy", Phase: "tdd-refactor"}}}}

var tooLarge = Error{Category: CategoryEnvironment, ReasonCode: WorkTooLarge, Title: "work is too large to keep",
	Next: []NextStep{{Text: "or lose it", Verb: VerbResume, Runs: []string{"42"}, Force: true}}}

func outcomes(r Run, a Action) []Event {
	o := Outcome{Key: a.Key}
	commit := fmt.Sprintf("c%04d", r.Journey.Orders)
	passing := ActionFailed{Outcome: o, Error: Error{Category: CategoryGit, ReasonCode: "GIT_FAILED", Title: "git failed", Retryable: true}}
	lasting := ActionFailed{Outcome: o, Error: Error{Category: CategoryGit, ReasonCode: "CHECKOUT_IN_THE_WAY", Title: "in the way"}}
	events := []Event{passing, lasting}
	switch a.Kind {
	case CallAgent, RunTests, RenewEnvironment, RemoveEnvironment:
		events = append(events, ActionFailed{Outcome: o, Error: tooLarge})
	}
	switch a.Kind {
	case CheckDependencies:
		return append(events, DependenciesChecked{Outcome: o}, DependenciesChecked{Outcome: o, Missing: []string{"41"}})
	case CreateBranch:
		return append(events, BranchCreated{o, "base" + commit})
	case DetectEnvironment:
		return append(events, EnvironmentDetected{Outcome: o})
	case RenewEnvironment:
		return append(events, EnvironmentRenewed{Outcome: o, Fingerprint: "f1"}, EnvironmentRenewed{Outcome: o, Fingerprint: "f1", Warm: true})
	case AdoptSetUp:
		return append(events, SetUpAdopted{Outcome: o})
	case KeepEnvironment:
		return append(events, EnvironmentKept{Outcome: o}, EnvironmentKept{Outcome: o, Problem: "the disk is full"})
	case CreateEnvironment:
		return append(events, EnvironmentCreated{Outcome: o, EnvID: "issue-42", Isolation: "bubblewrap"})
	case ReadDesign:
		return append(events, DesignFound{Outcome: o})
	case CallAgent:
		return append(events, answers(o, a)...)
	case MergeBase:
		return append(events, BaseMerged{Outcome: o, Base: "base2", Commit: r.Journey.Head}, BaseMerged{Outcome: o, Base: "base2", Commit: commit},
			BaseMerged{Outcome: o, Base: "base2", Commit: commit, Conflicts: []string{"a.go"}})
	case WritePlan:
		return append(events, PlanWritten{o, "planning.json"})
	case RunSetUp:
		events = append(events, SetUpEnded{Outcome: o, OK: true})
		for _, class := range []FailureClass{FailureNetwork, FailureServer, FailureLock, FailureFixable, FailureFatal} {
			events = append(events, SetUpEnded{Outcome: o, Class: class, Message: "no"})
		}
		return events
	case RecordChange:
		return append(events, ChangeRecorded{Outcome: o, Commit: commit}, ChangeRecorded{Outcome: o, Commit: r.Journey.StepBase},
			ChangeRecorded{Outcome: o, Commit: commit, Whole: []FileChange{{Path: ".github/workflows/x.yml", NewMode: "100644"}}},
			ChangeRecorded{Outcome: o, Commit: commit, Whole: []FileChange{{Path: "a"}}, Concerns: []Concern{{KnownSecret, "MY_TOKEN", "a", 1, ""}}},
			ChangeRecorded{Outcome: o, Commit: commit, Files: []FileChange{{Path: "a/.GIT/config", NewMode: "100644"}}},
			ChangeRefused{Outcome: o, Problems: []string{"too large"}, TooLarge: true})
	case RunTests:
		commit = r.Journey.Head
		failed := func(f TestFailure) Event {
			f.Command = "make test"
			return TestsEnded{Outcome: o, Commit: commit, Summary: "no", Failures: []TestFailure{f}}
		}
		events = append(events, TestsEnded{Outcome: o, Commit: commit, Passed: true}, failed(TestFailure{ExitCode: 1, Unnamed: true}))
		if a.Purpose == BaseTests {
			events = append(events, failed(TestFailure{ExitCode: 127, Unnamed: true}))
		}
		if r.Journey.Settings.Workflow != WorkflowSimple { // which is enough to see these
			return events
		}
		return append(events, failed(TestFailure{ExitCode: 137, Unsettled: true}), failed(TestFailure{ExitCode: 1, Tests: []string{"TestOld"}}))
	case OpenPullRequest:
		return append(events, PullRequestOpened{Outcome: o, Number: 7})
	case WatchChecks:
		for _, state := range []ChecksState{ChecksPassed, ChecksFailed, ChecksConflict, ChecksSilent, ChecksUnsettled} {
			events = append(events, ChecksEnded{Outcome: o, State: state, Candidate: Candidate{Head: r.Journey.Head}})
		}
		return events
	case MergePullRequest:
		return append(events, Merged{o, "m1"}, BaseMoved{o}, HeadMoved{o})
	case ClosePullRequest:
		return append(events, PullRequestClosed{o})
	case RemoveEnvironment:
		return append(events, EnvironmentRemoved{o, "refs/signalbox/kept/42"})
	case CloseRequest:
		return append(events, RequestClosed{o})
	case FindAgreement:
		return append(events, AgreementFound{o, r.Journey.SetUp.Content()}, AgreementFound{Outcome: o})
	case KeepAgreement:
		return append(events, AgreementKept{Outcome: o}, AgreementKept{Outcome: o, Problem: "the disk is full"})
	case PostComment:
		return append(events, CommentPosted{o})
	case DropWork:
		return append(events, WorkDropped{o})
	case Wait:
		return []Event{Waited{o}}
	}
	panic("no outcomes for " + a.Kind)
}

func answers(o Outcome, a Action) []Event {
	events := []Event{AgentFailed{Outcome: o, Code: "AGENT_HUNG"}, AgentFailed{Outcome: o, Code: "AGENT_UNAVAILABLE"},
		AgentFailed{Outcome: o, Code: "AGENT_USAGE_LIMITED"}, AgentFailed{Outcome: o, Code: "AGENT_MODEL_FAILED"}}
	refused := AnswerRefused{Outcome: o, Problems: []string{"no JSON"}}
	switch a.Role {
	case Planner:
		unclear := plan
		unclear.Design = &Feasibility{AmbiguousPoints: []string{"int or UUID"}}
		return append(events, PlanAnswered{Outcome: o, Plan: plan}, PlanAnswered{Outcome: o, Plan: unclear}, refused)
	case Reviewer:
		return append(events, ReviewAnswered{Outcome: o}, ReviewAnswered{Outcome: o, Review: Review{Findings: []Finding{{Text: "x"}}}}, refused)
	case Repairer:
		return append(events, RepairAnswered{Outcome: o, Repair: Repair{SetupCommands: []string{"b"}}}, refused)
	}
	return append(events, Implemented{Outcome: o})
}

// eventName is the event's type and, where that decides, what it says.
func eventName(event Event) string {
	name := string(event.Name())
	says := ""
	switch e := event.(type) {
	case Admitted:
		says = oneOf(e.Base == "", "", "on a moved base")
	case ChecksEnded:
		says = string(e.State)
	case TestsEnded:
		says = oneOf(e.Passed, "passed", "failed")
		if len(e.Failures) > 0 && e.Failures[0].Unsettled {
			says = "unsettled"
		}
	case ReviewAnswered:
		says = oneOf(len(e.Review.Findings) == 0, "clean", "findings")
	case SetUpEnded:
		says = oneOf(e.OK, "ok", string(e.Class))
	case StopRequested:
		says = oneOf(e.Cancel, "cancel", "")
	case DependenciesChecked:
		says = oneOf(len(e.Missing) == 0, "", "missing")
	case ActionFailed:
		says = oneOf(e.Error.Retryable, "retryable", "lasting")
		if e.Error.ReasonCode == WorkTooLarge {
			says = "too large"
		}
	case AgreementFound:
		says = oneOf(e.Content != "", "", "none")
	case Resumed:
		says = oneOf(e.Force, "force", "")
	case AgentFailed:
		says = e.Code
	case BaseMerged:
		says = oneOf(len(e.Conflicts) > 0, "conflicts", "clean")
	case BranchMoved:
		says = oneOf(e.OnTop, "on", "beside")
	}
	return strings.TrimSpace(name + " " + says)
}

func oneOf(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// place is a state's name in the diagram: the phase while it runs, else the
// state. A run that waits for approval is at a place of its own.
func place(r Run) string {
	switch {
	case r.State == NeedsInput && r.Error.ReasonCode == "APPROVAL_REQUIRED":
		return string(ApprovalWait.Step())
	case r.State == Running && r.Journey.Canceling:
		return "canceling"
	case r.State == Running && r.Journey.SettingUp:
		return "set-up"
	case r.State == Running:
		return string(r.Journey.Phase.Step())
	}
	return string(r.State)
}
