package machine

import (
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"signalbox/internal/workflow"
)

// The exhaustive walk: from a new run, every event that can happen in every
// state that can be reached, until nothing new is found. Two runs are the same
// state when Decide cannot tell them apart.

var epoch = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// tight limits keep the space small; each budget is still exceeded somewhere.
var tight = workflow.Limits{ReviewRounds: 2, CIFailures: 2, SetUpRepairs: 1, Autofix: 1, ContractRetries: 1, AgentRetries: 1,
	ActionRetries: 1, BaseConflicts: 1, MaxDiffLines: 10}

func settings(flow string, auto bool) workflow.Settings {
	name, phases, err := workflow.WorkflowPhases(flow)
	if err != nil {
		panic(err)
	}
	return workflow.Settings{Workflow: name, Phases: phases, AutoApprove: auto, Tests: []string{"make test"}, Stress: "make stress",
		HasPlanner: true, HasReviewer: true, Limits: tight}
}

func newRun(s workflow.Settings) workflow.Run {
	return workflow.New(workflow.Start{RequestID: "RQ-20261120-042", RunID: "20261120-090000-abcdef", Number: 42, Title: "Fix the parser",
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
	frontier []workflow.Run
	edges    map[edge]bool
	reverse  [][]int
	final    []int
	// sample is a small part of the states.
	sample []workflow.Run
}

// explore walks from the runs given; leave out a transition by answering false in follow.
func explore(t *testing.T, follow func(from, to workflow.Run) bool, runs ...workflow.Run) *walk {
	t.Helper()
	w := &walk{t: t, seen: map[situation]int{}, edges: map[edge]bool{}}
	for _, r := range runs {
		w.visit(r)
	}
	for len(w.frontier) > 0 {
		run := w.frontier[0] // the shortest way there: its run has the least to copy
		w.frontier[0] = workflow.Run{}
		w.frontier = w.frontier[1:]
		from := w.seen[abstract(run)]
		for _, event := range eventsFor(run) {
			after, actions := Decide(run, event, epoch)
			if after.Details.Transition == run.Details.Transition {
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

func (w *walk) visit(r workflow.Run) int {
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
		if id%sampled == 0 {
			w.sample = append(w.sample, r)
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

// beforeSetUp is a run whose plan, with a setup, is about to be written. The
// setup's waits and repairs make a space of their own, walked apart from the rest.
func beforeSetUp(t *testing.T) workflow.Run {
	t.Helper()
	run, _ := Decide(newRun(settings(workflow.WorkflowFull, true)), workflow.Admitted{}, epoch)
	for run.Details.Plan == nil {
		event := goesWell(run)
		if e, ok := event.(workflow.PlanAnswered); ok {
			e.Plan.Environment = setUp
			event = e
		}
		run, _ = Decide(run, event, epoch)
	}
	return run
}

// atApproval is a run whose change is ready, after a setup that a model wrote.
func atApproval(t *testing.T) workflow.Run {
	t.Helper()
	run := beforeSetUp(t)
	for run.Details.Phase < workflow.ApprovalWait {
		run, _ = Decide(run, goesWell(run), epoch)
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

// movable are the settings of a run whose branch a person moves, with next to no budgets: a space of its own.
func movable() workflow.Settings {
	s := settings(string(workflow.ReviewRequest.Step()), false)
	s.Limits = workflow.Limits{ReviewRounds: 1, CIFailures: 1, Autofix: 1, BaseConflicts: 1}
	return s
}

// reviewed are the settings of a run whose change people approve on the forge, with next to no budgets.
func reviewed() workflow.Settings {
	s := settings(workflow.WorkflowSimple, false)
	s.ApproveOnForge, s.Drafts, s.Limits = true, true, workflow.Limits{ReviewRounds: 2, CIFailures: 1}
	return s
}

// walks are the spaces that together hold every rule of Decide.
var walks = func() func(t *testing.T) []*walk {
	var once sync.Once
	var all []*walk
	return func(t *testing.T) []*walk {
		once.Do(func() {
			stay := func(from, to workflow.Run) bool {
				u := to.Details.Used
				waits := min(1, u.NetworkWaits) + min(1, u.ServerWaits) + min(1, u.LockWaits)
				return waits <= 1 && (from.Details.SettingUp || from.Details.Plan != nil || from.State.Ended() || from.State == workflow.Queued)
			}
			all = []*walk{
				explore(t, nil, newRun(settings(workflow.WorkflowSimple, false))),
				explore(t, nil, newRun(settings(workflow.WorkflowFull, true))),
				explore(t, stay, beforeSetUp(t)),
				explore(t, nil, newRun(movable())),
				explore(t, nil, newRun(reviewed())),
				explore(t, func(_, to workflow.Run) bool { return to.Details.Phase >= workflow.ApprovalWait }, atApproval(t)),
			}
		})
		return all
	}
}()

// sampled is how many states of a walk there are for one that is encoded: each takes four encodings for every event.
const sampled = 300

func TestDecideChangesNothingItWasGiven(t *testing.T) {
	t.Parallel()
	for _, w := range walks(t) {
		for _, run := range w.sample {
			before := encoded(t, run)
			for _, event := range eventsFor(run) {
				first, _ := Decide(run, event, epoch)
				second, _ := Decide(run, event, epoch)
				if after := encoded(t, run); after != before {
					t.Fatalf("%s changed its argument in %+v", eventName(event), abstract(run))
				}
				if encoded(t, first) != encoded(t, second) {
					t.Fatalf("%s answered twice differently in %+v", eventName(event), abstract(run))
				}
			}
		}
	}
}

func encoded(t failer, r workflow.Run) string {
	t.Helper()
	b, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		t.Fatalf("encode run: %v", err)
	}
	return string(b)
}

// reloaded is the run as the next process finds it.
func reloaded(t failer, r workflow.Run) workflow.Run {
	t.Helper()
	var found workflow.Run
	if err := json.Unmarshal([]byte(encoded(t, r)), &found); err != nil {
		t.Fatalf("decode run: %v", err)
	}
	return found
}
