package machine

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
	"signalbox/internal/workflow/policy"
)

// eventsFor is everything that can happen to a run: every order, and every
// outcome of the action that would be performed now.
func eventsFor(r workflow.Run) []workflow.Event {
	head := r.Details.Head
	events := []workflow.Event{workflow.Admitted{Epoch: 1}, workflow.Named{Program: "./agent.sh"}, workflow.Waiting{For: "a slot"}, workflow.Interrupted{}, workflow.Prepared{}, workflow.SessionBaseSet{Commit: "upon"}, workflow.SessionBegan{}, workflow.SessionUsed{Usage: workflow.Usage{OutputTokens: 1}}, workflow.WorkFound{Ref: "refs/signalbox/kept/42/found"}, workflow.StopRequested{}, workflow.StopRequested{Cancel: true}, workflow.Resumed{}, workflow.Resumed{Force: true}, workflow.Retried{},
		workflow.Approved{Commit: head, By: "ada"}, workflow.Approved{Commit: "of another time"}, workflow.Rejected{Reason: "no"}}
	if commit := fmt.Sprintf("p%04d", r.Details.Orders); r.Details.Settings.Workflow == workflow.WorkflowCustom && len(r.Details.Moves) == 0 { // see movable; one tells all
		kept := "refs/signalbox/kept/42/" + commit
		events = append(events, workflow.BranchMoved{Commit: commit, OnTop: true, Commits: 2, By: []string{"Ada"}, KeptRef: kept},
			workflow.BranchMoved{Commit: commit, Commits: 1, By: []string{"Ada"}, KeptRef: kept})
	}
	if r.Details.FromBase {
		events = append(events, workflow.Admitted{Epoch: 1, Base: "moved"})
	}
	if r.Details.Settings.Workflow == workflow.WorkflowCustom && len(r.Details.Moves) == 0 {
		events = append(events, workflow.SyncOrdered{})
	}
	if r.Watches() {
		events = append(events, workflow.Woken{})
	}
	if len(r.Details.Pending) > 0 {
		a := r.Details.Pending[0]
		events = append(events, outcomes(r, a)...)
		events = append(events, workflow.Merged{Outcome: workflow.Outcome{Key: "never asked for"}})
	}
	return events
}

var setUp = &workflow.PlanSetUp{Name: "go", SetupCommands: []string{"go mod download"},
	Verification: []workflow.Verification{{Command: "echo OK", Expected: "OK"}}}

var plan = workflow.Plan{Goal: "g",
	Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01", Title: "Test", Phase: "tdd-red"}, {StepID: "S02", Title: "Fix"},
		{StepID: "S03", Title: "Tidy", Phase: "tdd-refactor"}}}}

var tooLarge = workflow.Error{Category: workflow.CategoryEnvironment, ReasonCode: workflow.WorkTooLarge, Title: "work is too large to keep",
	Next: []workflow.NextStep{{Text: "or lose it", Verb: workflow.VerbResume, Runs: []string{"42"}, Force: true}}}

func outcomes(r workflow.Run, a workflow.Action) []workflow.Event {
	o := workflow.Outcome{Key: a.Key}
	commit := fmt.Sprintf("c%04d", r.Details.Orders)
	passing := workflow.ActionFailed{Outcome: o, Error: workflow.Error{Category: workflow.CategoryGit, ReasonCode: "GIT_FAILED", Title: "git failed", Retryable: true}}
	lasting := workflow.ActionFailed{Outcome: o, Error: workflow.Error{Category: workflow.CategoryGit, ReasonCode: "CHECKOUT_IN_THE_WAY", Title: "in the way"}}
	events := []workflow.Event{passing, lasting}
	switch a.Kind {
	case workflow.CallAgent, workflow.RunTests, workflow.RestoreEnvironment, workflow.RemoveEnvironment:
		events = append(events, workflow.ActionFailed{Outcome: o, Error: tooLarge})
	}
	switch a.Kind {
	case workflow.CheckDependencies:
		return append(events, workflow.DependenciesChecked{Outcome: o}, workflow.DependenciesChecked{Outcome: o, Missing: []string{"41"}})
	case workflow.CreateBranch:
		return append(events, workflow.BranchCreated{Outcome: o, BaseCommit: "base" + commit})
	case workflow.DetectEnvironment:
		return append(events, workflow.EnvironmentDetected{Outcome: o})
	case workflow.RestoreEnvironment:
		return append(events, workflow.EnvironmentRestored{Outcome: o, Fingerprint: "f1"}, workflow.EnvironmentRestored{Outcome: o, Fingerprint: "f1", Warm: true})
	case workflow.AdoptSetUp:
		return append(events, workflow.SetUpAdopted{Outcome: o})
	case workflow.SnapshotEnvironment:
		return append(events, workflow.SnapshotTaken{Outcome: o}, workflow.SnapshotTaken{Outcome: o, Problem: "the disk is full"})
	case workflow.CreateEnvironment:
		return append(events, workflow.EnvironmentCreated{Outcome: o, EnvID: "issue-42", Isolation: "bubblewrap"})
	case workflow.ReadDesign:
		return append(events, workflow.DesignFound{Outcome: o})
	case workflow.CallAgent:
		return append(events, answers(o, a)...)
	case workflow.MergeBase:
		return append(events, workflow.BaseMerged{Outcome: o, Base: "base2", Commit: r.Details.Head}, workflow.BaseMerged{Outcome: o, Base: "base2", Commit: commit},
			workflow.BaseMerged{Outcome: o, Base: "base2", Commit: commit, Conflicts: []string{"a.go"}})
	case workflow.WritePlan:
		return append(events, workflow.PlanWritten{Outcome: o, Path: "planning.json"})
	case workflow.RunSetUp:
		events = append(events, workflow.SetUpEnded{Outcome: o, OK: true})
		for _, class := range []workflow.FailureClass{workflow.FailureNetwork, workflow.FailureServer, workflow.FailureLock, workflow.FailureFixable, workflow.FailureFatal} {
			events = append(events, workflow.SetUpEnded{Outcome: o, Class: class, Message: "no"})
		}
		return events
	case workflow.RecordChange:
		return append(events, workflow.ChangeRecorded{Outcome: o, Commit: commit}, workflow.ChangeRecorded{Outcome: o, Commit: r.Details.StepBase},
			workflow.ChangeRecorded{Outcome: o, Commit: commit, Whole: []policy.FileChange{{Path: ".github/workflows/x.yml", NewMode: "100644"}}},
			workflow.ChangeRecorded{Outcome: o, Commit: commit, Whole: []policy.FileChange{{Path: "a"}}, Concerns: []policy.Concern{{Kind: policy.KnownSecret, What: "MY_TOKEN", Path: "a", Line: 1, Commit: ""}}},
			workflow.ChangeRecorded{Outcome: o, Commit: commit, Files: []policy.FileChange{{Path: "a/.GIT/config", NewMode: "100644"}}},
			workflow.ChangeRefused{Outcome: o, Problems: []string{"too large"}, TooLarge: true})
	case workflow.RunTests:
		commit = r.Details.Head
		failed := func(f workflow.TestFailure) workflow.Event {
			f.Command = "make test"
			return workflow.TestsEnded{Outcome: o, Commit: commit, Summary: "no", Failures: []workflow.TestFailure{f}}
		}
		events = append(events, workflow.TestsEnded{Outcome: o, Commit: commit, Passed: true}, failed(workflow.TestFailure{ExitCode: 1, Unnamed: true}))
		if a.Purpose == workflow.BaseTests {
			events = append(events, failed(workflow.TestFailure{ExitCode: 127, Unnamed: true}))
		}
		if r.Details.Settings.Workflow != workflow.WorkflowSimple { // which is enough to see these
			return events
		}
		return append(events, failed(workflow.TestFailure{ExitCode: 137, Unsettled: true}), failed(workflow.TestFailure{ExitCode: 1, Tests: []string{"TestOld"}}))
	case workflow.OpenPullRequest:
		events = append(events, workflow.PullRequestOpened{Outcome: o, Number: 7})
		if a.Draft {
			events = append(events, workflow.PullRequestOpened{Outcome: o})
		}
		return events
	case workflow.WatchChecks:
		for _, state := range []workflow.ChecksState{workflow.ChecksPassed, workflow.ChecksFailed, workflow.ChecksConflict, workflow.ChecksSilent, workflow.ChecksUnsettled, workflow.ChecksPending} {
			events = append(events, workflow.ChecksEnded{Outcome: o, State: state, Candidate: workflow.Candidate{Head: r.Details.Head}})
		}
		if r.Details.Settings.ApproveOnForge {
			events = append(events, workflow.Merged{Outcome: o, Commit: "m1"})
			events = append(events, workflow.ChecksEnded{Outcome: o, State: workflow.ChecksFailed, Rerunnable: true, Candidate: workflow.Candidate{Head: r.Details.Head}})
			events = append(events, workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPassed, ApprovedBy: "ada", Candidate: workflow.Candidate{Head: r.Details.Head}},
				workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPassed, Awaits: &workflow.Await{Kind: await.Merge, Required: true}, Candidate: workflow.Candidate{Head: r.Details.Head}},
				workflow.ChecksEnded{Outcome: o, State: workflow.ChecksObjected, Objections: []workflow.Objection{{ID: commit, Thread: "T1", Finding: workflow.Finding{Text: "x"}}}})
		}
		return events
	case workflow.RerunChecks:
		return append(events, workflow.ChecksRerun{Outcome: o, Jobs: []string{"lint"}}, workflow.ChecksRerun{Outcome: o})
	case workflow.MergePullRequest:
		return append(events, workflow.Merged{Outcome: o, Commit: "m1"}, workflow.Merged{Outcome: o, Commit: "m1", Untested: true}, workflow.BaseMoved{Outcome: o}, workflow.HeadMoved{Outcome: o},
			workflow.ChecksEnded{Outcome: o, State: workflow.ChecksPending})
	case workflow.ClosePullRequest:
		return append(events, workflow.PullRequestClosed{Outcome: o}, workflow.Merged{Outcome: o, Commit: "m1"})
	case workflow.RemoveEnvironment:
		return append(events, workflow.EnvironmentRemoved{Outcome: o, KeptRef: "refs/signalbox/kept/42"})
	case workflow.CloseRequest:
		return append(events, workflow.RequestClosed{Outcome: o})
	case workflow.FindAgreement:
		return append(events, workflow.AgreementFound{Outcome: o, Content: r.Details.SetUp.Content()}, workflow.AgreementFound{Outcome: o})
	case workflow.KeepAgreement:
		return append(events, workflow.AgreementKept{Outcome: o}, workflow.AgreementKept{Outcome: o, Problem: "the disk is full"})
	case workflow.PostComment:
		return append(events, workflow.CommentPosted{Outcome: o})
	case workflow.DropWork:
		return append(events, workflow.WorkDropped{Outcome: o})
	case workflow.Wait:
		return []workflow.Event{workflow.Waited{Outcome: o}}
	}
	panic("no outcomes for " + a.Kind)
}

func answers(o workflow.Outcome, a workflow.Action) []workflow.Event {
	events := []workflow.Event{workflow.AgentFailed{Outcome: o, Code: "AGENT_HUNG"}, workflow.AgentFailed{Outcome: o, Code: "AGENT_UNAVAILABLE"},
		workflow.AgentFailed{Outcome: o, Code: "AGENT_USAGE_LIMITED"}, workflow.AgentFailed{Outcome: o, Code: "AGENT_MODEL_FAILED"}}
	refused := workflow.AnswerRefused{Outcome: o, Problems: []string{"no JSON"}}
	switch a.Role {
	case workflow.Planner:
		unclear := plan
		unclear.Design = &workflow.Feasibility{AmbiguousPoints: []string{"int or UUID"}}
		return append(events, workflow.PlanAnswered{Outcome: o, Plan: plan}, workflow.PlanAnswered{Outcome: o, Plan: unclear}, refused)
	case workflow.Reviewer:
		return append(events, workflow.ReviewAnswered{Outcome: o}, workflow.ReviewAnswered{Outcome: o, Review: workflow.Review{Findings: []workflow.Finding{{Text: "x"}}}}, refused)
	case workflow.Repairer:
		return append(events, workflow.RepairAnswered{Outcome: o, Repair: workflow.Repair{SetupCommands: []string{"b"}}}, refused)
	}
	return append(events, workflow.Implemented{Outcome: o})
}

// eventName is the event's type and, where that decides, what it says.
func eventName(event workflow.Event) string {
	name := string(workflow.NameOf(event))
	says := ""
	switch e := event.(type) {
	case workflow.Admitted:
		says = oneOf(e.Base == "", "", "on a moved base")
	case workflow.ChecksEnded:
		says = string(e.State)
		if e.Rerunnable {
			says += " in a job"
		}
		if e.ApprovedBy != "" {
			says += " and approved"
		}
		if e.Awaits != nil {
			says += " but unapproved"
		}
	case workflow.TestsEnded:
		says = oneOf(e.Passed, "passed", "failed")
		if len(e.Failures) > 0 && e.Failures[0].Unsettled {
			says = "unsettled"
		}
	case workflow.ReviewAnswered:
		says = oneOf(len(e.Review.Findings) == 0, "clean", "findings")
	case workflow.SetUpEnded:
		says = oneOf(e.OK, "ok", string(e.Class))
	case workflow.Merged:
		says = oneOf(e.Untested, "untested", "")
	case workflow.StopRequested:
		says = oneOf(e.Cancel, "cancel", "")
	case workflow.DependenciesChecked:
		says = oneOf(len(e.Missing) == 0, "", "missing")
	case workflow.ActionFailed:
		says = oneOf(e.Error.Retryable, "retryable", "lasting")
		if e.Error.ReasonCode == workflow.WorkTooLarge {
			says = "too large"
		}
	case workflow.AgreementFound:
		says = oneOf(e.Content != "", "", "none")
	case workflow.Resumed:
		says = oneOf(e.Force, "force", "")
	case workflow.AgentFailed:
		says = e.Code
	case workflow.BaseMerged:
		says = oneOf(len(e.Conflicts) > 0, "conflicts", "clean")
	case workflow.BranchMoved:
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
func place(r workflow.Run) string {
	switch {
	case r.State == workflow.NeedsInput && r.Error.ReasonCode == "APPROVAL_REQUIRED":
		return string(workflow.ApprovalWait.Step())
	case r.State == workflow.Running && r.Details.Canceling:
		return "canceling"
	case r.State == workflow.Running && r.Details.SettingUp:
		return "setup"
	case r.State == workflow.Running:
		return string(r.Details.Phase.Step())
	}
	return string(r.State)
}
