package workflow

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// The exhaustive walk: from a new run, every event that can happen in every
// state that can be reached, until nothing new is found. Two runs are the same
// state when Decide cannot tell them apart.

var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// tight limits keep the space small; each budget is still exceeded somewhere.
var tight = Limits{ReviewRounds: 2, CIFailures: 2, SetUpRepairs: 1, Autofix: 1, ContractRetries: 1, AgentRetries: 1,
	ActionRetries: 1, BaseConflicts: 1, MaxDiffLines: 10}

func settings(workflow string, auto bool) Settings {
	name, phases, err := WorkflowPhases(workflow)
	if err != nil {
		panic(err)
	}
	return Settings{Workflow: name, Phases: phases, AutoApprove: auto, Tests: []string{"make test"}, Stress: "make stress",
		HasPlanner: true, HasReviewer: true, Limits: tight}
}

func newRun(s Settings) Run {
	return New(Start{RequestID: "RQ-20261120-042", RunID: "20261120-090000-abcdef", Number: 42, Title: "Fix the parser",
		Branch: "signalbox/42-fix-the-parser", Base: "main", Settings: s}, epoch)
}

// edge is one observed transition.
type edge struct {
	from, to string
	event    string
}

type walk struct {
	t *testing.T
	// seen numbers the states by their abstraction; frontier holds those not yet expanded.
	seen     map[situation]int
	frontier []Run
	edges    map[edge]bool
	reverse  [][]int
	final    []int
	each     func(Run)
}

// explore walks from the runs given; leave out a transition by answering false in follow.
func explore(t *testing.T, each func(Run), follow func(from, to Run) bool, runs ...Run) *walk {
	t.Helper()
	w := &walk{t: t, seen: map[situation]int{}, edges: map[edge]bool{}, each: each}
	for _, r := range runs {
		w.visit(r)
	}
	for len(w.frontier) > 0 {
		run := w.frontier[len(w.frontier)-1]
		w.frontier = w.frontier[:len(w.frontier)-1]
		if w.each != nil {
			w.each(run)
		}
		from := w.seen[abstract(run)]
		for _, event := range eventsFor(run) {
			after, actions := Decide(run, event, epoch)
			if after.Journey.Transition == run.Journey.Transition {
				continue // the fact did not apply
			}
			checkLegal(w.t, run, event, after, actions)
			if follow != nil && !follow(run, after) {
				w.final = append(w.final, from) // an exit to a part that another walk covers
				continue
			}
			to := w.visit(after)
			if to != from {
				w.reverse[to] = append(w.reverse[to], from)
			}
			w.edges[edge{place(run), place(after), eventName(event)}] = true
		}
	}
	return w
}

func (w *walk) visit(r Run) int {
	key := abstract(r)
	id, ok := w.seen[key]
	if !ok {
		id = len(w.seen)
		w.seen[key] = id
		w.reverse = append(w.reverse, nil)
		w.frontier = append(w.frontier, r)
		if r.State.Final() {
			w.final = append(w.final, id)
		}
	}
	return id
}

// dead counts the states from which no final one can be reached.
func (w *walk) dead() int {
	canEnd := make([]bool, len(w.reverse))
	alive := 0
	for queue := w.final; len(queue) > 0; queue = queue[1:] {
		if id := queue[0]; !canEnd[id] {
			canEnd[id] = true
			alive++
			queue = append(queue, w.reverse[id]...)
		}
	}
	return len(w.seen) - alive
}

// failer is what *testing.T and *rapid.T have in common here.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkLegal holds every promise that one transition can break.
func checkLegal(t failer, before Run, event Event, after Run, actions []Action) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s: %s + %s → %s: %s", before.Journey.Phase, before.State, eventName(event), after.State, fmt.Sprintf(format, args...))
	}
	if err := after.Validate(); err != nil {
		fail("illegal document: %v", err)
	}
	if !before.State.MayBecome(after.State) {
		fail("R16 does not allow this")
	}
	j := after.Journey
	if after.State == Running && len(actions) == 0 {
		fail("a running run with nothing to do")
	}
	if after.State.Final() && len(actions) > 0 {
		fail("a final run with something to do")
	}
	if after.State == Running && !j.Canceling {
		checkPosition(fail, after)
	}
	if after.Error != nil && !slices.ContainsFunc(after.Error.Actions, func(a string) bool { return strings.Contains(a, "signalbox ") }) {
		fail("the stop %s names no command: %q", after.Error.ReasonCode, after.Error.Actions)
	}
	for _, a := range actions {
		if a.Kind == MergePullRequest && (j.PullRequest == nil || j.PullRequest.Checked == nil || j.PullRequest.Checked.Head != j.Head) {
			fail("a merge of something unchecked")
		}
		if a.Kind == OpenPullRequest && !j.Settings.AutoApprove && (j.Approval == nil || j.Approval.Commit != j.Head) {
			fail("a pull request of something not approved")
		}
		if a.Kind == OpenPullRequest && len(j.Flags) > 0 && (j.Approval == nil || j.Approval.Commit != j.Head) {
			fail("a flagged change went past the person")
		}
	}
	if keys := map[string]bool{}; true {
		for _, a := range actions {
			if keys[a.Key] {
				fail("two pending actions share the key %s", a.Key)
			}
			keys[a.Key] = true
		}
	}
}

// checkPosition holds that a running run shows one phase at work, the present
// one, and a stage of it.
func checkPosition(fail func(string, ...any), r Run) {
	for _, record := range r.Journey.Phases {
		if record.Status == StepRunning && record.Phase != r.Journey.Phase {
			fail("%s is shown as at work", record.Phase)
		}
	}
	row := r.Journey.Phase.Position()
	if r.Stage != row.Stage && !slices.Contains(row.Stages, r.Stage) {
		fail("stage %s is none of the phase's", r.Stage)
	}
}

// situation is all of a run that Decide looks at. What it only copies is left
// out: times, texts, ever-growing counters.
type situation struct {
	state       State
	phase       Phase
	workflow    string
	used        [11]int
	settingUp   bool
	canceling   bool
	fix         StepStatus
	steps       [3]situationOfStep
	current     int
	pending     [3]situationOfAction
	findings    int
	flags       int
	branched    bool
	environment bool
	unchanged   bool
	approved    bool
	offered     bool
	checked     bool
	merged      bool
	setUpNext   int
	setUpStatus string
	warm        bool
}

type situationOfStep struct {
	status StepStatus
	phase  StepName
}

type situationOfAction struct {
	kind    ActionKind
	role    Role
	purpose TestPurpose
	onStep  bool
}

func abstract(r Run) situation {
	j := &r.Journey
	s := situation{state: r.State, phase: j.Phase, workflow: j.Settings.Workflow, used: spent(&j.Used), settingUp: j.SettingUp,
		canceling: j.Canceling, fix: j.Phases[ReviewFix].Status, current: r.CurrentStepIndex, findings: len(j.Findings),
		flags: len(j.Flags), branched: j.BaseCommit != "", environment: j.EnvID != "", unchanged: j.Head == j.StepBase,
		approved: j.Approval != nil && j.Approval.Commit == j.Head, offered: j.PullRequest != nil, merged: j.MergeCommit != ""}
	s.checked = s.offered && j.PullRequest.Checked != nil && j.PullRequest.Checked.Head == j.Head
	for i, step := range r.Steps {
		s.steps[i] = situationOfStep{step.Status, step.Phase}
	}
	for i, a := range j.Pending {
		s.pending[i] = situationOfAction{a.Kind, a.Role, a.Purpose, a.StepID != ""}
	}
	if j.SetUp != nil {
		s.setUpNext, s.setUpStatus, s.warm = j.SetUp.Next, j.SetUp.Status, j.SetUp.Warm
	}
	return s
}

func spent(u *Used) [11]int {
	return [11]int{u.ReviewRounds, u.CIFailures, u.SetUpRepairs, u.NetworkWaits, u.ServerWaits, u.LockWaits,
		u.Autofix, u.ContractRetries, u.AgentRetries, u.ActionRetries, u.BaseConflicts}
}

// eventsFor is everything that can happen to a run: every order, and every
// outcome of the action that would be performed now.
func eventsFor(r Run) []Event {
	head := r.Journey.Head
	events := []Event{Admitted{Epoch: 1}, Waiting{For: "a slot"}, StopRequested{}, StopRequested{Cancel: true}, Resumed{}, Retried{},
		Approved{Commit: head, By: "ada"}, Approved{Commit: "of another time"}, Rejected{Reason: "no"}}
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

func outcomes(r Run, a Action) []Event {
	o := Outcome{Key: a.Key}
	commit := fmt.Sprintf("c%04d", r.Journey.Orders)
	passing := ActionFailed{Outcome: o, Error: Error{Category: CategoryGit, ReasonCode: "GIT_FAILED", Title: "git failed", Retryable: true}}
	lasting := ActionFailed{Outcome: o, Error: Error{Category: CategoryGit, ReasonCode: "CHECKOUT_IN_THE_WAY", Title: "in the way"}}
	events := []Event{passing, lasting}
	switch a.Kind {
	case CheckDependencies:
		return append(events, DependenciesChecked{Outcome: o}, DependenciesChecked{Outcome: o, Missing: []string{"41"}})
	case CreateBranch:
		return append(events, BranchCreated{o, "base" + commit})
	case DetectEnvironment:
		return append(events, EnvironmentDetected{Outcome: o})
	case RenewEnvironment:
		return append(events, EnvironmentRenewed{Outcome: o, Fingerprint: "f1"}, EnvironmentRenewed{Outcome: o, Fingerprint: "f1", Warm: true})
	case KeepEnvironment:
		return append(events, EnvironmentKept{Outcome: o}, EnvironmentKept{Outcome: o, Problem: "the disk is full"})
	case CreateEnvironment:
		return append(events, EnvironmentCreated{Outcome: o, EnvID: "issue-42", Isolation: "bubblewrap"})
	case ReadDesign:
		return append(events, DesignFound{Outcome: o})
	case CallAgent:
		return append(events, answers(o, a)...)
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
			ChangeRecorded{Outcome: o, Commit: commit, Files: []FileChange{{Path: "a/.GIT/config", NewMode: "100644"}}},
			ChangeRefused{Outcome: o, Problems: []string{"too large"}})
	case RunTests:
		return append(events, TestsEnded{Outcome: o, Passed: true}, TestsEnded{Outcome: o, Summary: "no"})
	case OpenPullRequest:
		return append(events, PullRequestOpened{Outcome: o, Number: 7})
	case WatchChecks:
		for _, state := range []ChecksState{ChecksPassed, ChecksFailed, ChecksConflict, ChecksSilent} {
			events = append(events, ChecksEnded{Outcome: o, State: state, Candidate: Candidate{Head: r.Journey.Head}})
		}
		return events
	case MergePullRequest:
		return append(events, Merged{o, "m1"}, BaseMoved{o})
	case ClosePullRequest:
		return append(events, PullRequestClosed{o})
	case RemoveEnvironment:
		return append(events, EnvironmentRemoved{o, "refs/signalbox/kept/42"})
	case CloseRequest:
		return append(events, RequestClosed{o})
	case PostComment:
		return append(events, CommentPosted{o})
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
	name := strings.TrimPrefix(fmt.Sprintf("%T", event), "workflow.")
	says := ""
	switch e := event.(type) {
	case ChecksEnded:
		says = string(e.State)
	case TestsEnded:
		says = oneOf(e.Passed, "passed", "failed")
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
	case AgentFailed:
		says = e.Code
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

// beforeSetUp is a run whose plan, with a set-up, is about to be written. The
// set-up's waits and repairs make a space of their own, walked apart from the rest.
func beforeSetUp(t *testing.T) Run {
	t.Helper()
	run, _ := Decide(newRun(settings(WorkflowFull, true)), Admitted{}, epoch)
	for run.Journey.Plan == nil {
		event := goesWell(run)
		if e, ok := event.(PlanAnswered); ok {
			e.Plan.Environment = setUp
			event = e
		}
		run, _ = Decide(run, event, epoch)
	}
	return run
}

func TestEveryReachableStateIsLegalAndCanEnd(t *testing.T) {
	t.Parallel()
	for _, w := range walks(t) {
		if n := w.dead(); n > 0 {
			t.Errorf("%d of %d states have no way to an end", n, len(w.seen))
		}
		t.Logf("%d states, %d kinds of transition", len(w.seen), len(w.edges))
	}
}

// walks are the spaces that together hold every rule of Decide.
var walks = func() func(t *testing.T) []*walk {
	var once sync.Once
	var all []*walk
	return func(t *testing.T) []*walk {
		once.Do(func() {
			stay := func(from, to Run) bool {
				u := to.Journey.Used
				waits := min(1, u.NetworkWaits) + min(1, u.ServerWaits) + min(1, u.LockWaits)
				return waits <= 1 && (from.Journey.SettingUp || from.Journey.Plan != nil || from.State.Ended() || from.State == Queued)
			}
			all = []*walk{
				explore(t, nil, nil, newRun(settings(WorkflowSimple, false))),
				explore(t, nil, nil, newRun(settings(WorkflowFull, true))),
				explore(t, nil, stay, beforeSetUp(t)),
			}
		})
		return all
	}
}()

func TestDecideChangesNothingItWasGiven(t *testing.T) {
	t.Parallel()
	n := 0
	explore(t, func(run Run) {
		if n++; n%60 != 0 {
			return // four encodings each; the walk itself looks at every state
		}
		for _, event := range eventsFor(run) {
			before := encoded(t, run)
			first, _ := Decide(run, event, epoch)
			second, _ := Decide(run, event, epoch)
			if after := encoded(t, run); after != before {
				t.Fatalf("%s changed its argument in %+v", eventName(event), abstract(run))
			}
			if encoded(t, first) != encoded(t, second) {
				t.Fatalf("%s answered twice differently in %+v", eventName(event), abstract(run))
			}
		}
	}, nil, newRun(settings(WorkflowSimple, true)))
}

func encoded(t failer, r Run) string {
	t.Helper()
	b, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		t.Fatalf("encode run: %v", err)
	}
	return string(b)
}

// reloaded is the run as the next process finds it.
func reloaded(t failer, r Run) Run {
	t.Helper()
	var found Run
	if err := json.Unmarshal([]byte(encoded(t, r)), &found); err != nil {
		t.Fatalf("decode run: %v", err)
	}
	return found
}
