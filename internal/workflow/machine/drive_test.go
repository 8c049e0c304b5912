package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// act is one thing that happens to a run in a test.
type act func(*testing.T, workflow.Run) workflow.Run

// lived is a run of the workflow named, after the acts.
func lived(t *testing.T, s workflow.Settings, acts ...act) workflow.Run {
	t.Helper()
	run := newRun(s)
	for _, a := range acts {
		run = a(t, run)
	}
	return run
}

// ordinary are settings with the published limits.
func ordinary(flow string, auto bool) workflow.Settings {
	s := settings(flow, auto)
	s.Limits = workflow.DefaultLimits()
	return s
}

// does sends an order, which must apply.
func does(event workflow.Event) act {
	return func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		after, actions := Decide(run, event, epoch)
		checkLegal(t, run, event, after, actions)
		if after.Details.Transition == run.Details.Transition {
			t.Fatalf("%s does not apply to %s", eventName(event), where(run))
		}
		return after
	}
}

// answered sends an outcome of the action that would be performed now.
func answered(outcome func(workflow.Outcome, workflow.Run) workflow.Event) act {
	return func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		if len(run.Details.Pending) == 0 {
			t.Fatalf("nothing is pending: %s", where(run))
		}
		return does(outcome(workflow.Outcome{Key: run.Details.Pending[0].Key}, run))(t, run)
	}
}

// goesWell is the outcome that everybody hopes for.
func goesWell(run workflow.Run) workflow.Event {
	for _, event := range outcomes(run, run.Details.Pending[0]) {
		switch event.(type) {
		case workflow.ActionFailed, workflow.AgentFailed:
		default:
			return event
		}
	}
	panic("nothing can go well in " + where(run))
}

// well performs the present action with a good outcome.
var well = answered(func(_ workflow.Outcome, run workflow.Run) workflow.Event { return goesWell(run) })

// untilPhase lets all go well until the phase given is at work.
func untilPhase(p workflow.Phase) act {
	return until(func(run workflow.Run) bool { return run.Details.Phase == p })
}

// untilAction lets all go well until an action of that kind is to be performed.
func untilAction(kind workflow.ActionKind) act {
	return until(func(run workflow.Run) bool { return run.Details.Pending[0].Kind == kind })
}

func until(reached func(workflow.Run) bool) act {
	return func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		if run.State == workflow.Queued {
			run = does(workflow.Admitted{Epoch: run.Details.Epoch + 1})(t, run)
		}
		for range 100 {
			if run.State != workflow.Running || reached(run) {
				return run
			}
			run = well(t, run)
		}
		t.Fatalf("not reached in 100 actions: %s", where(run))
		return run
	}
}

// toTheEnd lets all go well until the run stops or ends.
var toTheEnd = until(func(workflow.Run) bool { return false })

func times(n int, acts ...act) act {
	return func(t *testing.T, run workflow.Run) workflow.Run {
		t.Helper()
		for range n {
			for _, a := range acts {
				run = a(t, run)
			}
		}
		return run
	}
}

// resumed is what a person and the queue do to a stopped run.
var resumed = times(1, does(workflow.Resumed{}), does(workflow.Admitted{Epoch: 2}))

// crash loses everything but the document, which the next start finds.
func crash(t *testing.T, run workflow.Run) workflow.Run {
	t.Helper()
	return does(workflow.Admitted{Epoch: run.Details.Epoch + 1})(t, reloaded(t, run))
}

// What can go wrong.
var (
	reviewFinds = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.ReviewAnswered{Outcome: o, Review: workflow.Review{Findings: []workflow.Finding{{File: "parse.go", Text: "reads past the end"}}}}
	})
	testsFail = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.TestsEnded{Outcome: o, Summary: "1 failed"}
	})
	nothingChanges = answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.ChangeRecorded{Outcome: o, Commit: run.Details.StepBase}
	})
	answerIsRefused = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.AnswerRefused{Outcome: o, Problems: []string{"no JSON"}}
	})
	baseMoves = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event { return workflow.BaseMoved{Outcome: o} })
	merges    = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.Merged{Outcome: o, Commit: "m1"}
	})

	mergesUntested = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.Merged{Outcome: o, Commit: "m1", Untested: true}
	})
)

func agentFails(code string) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.AgentFailed{Outcome: o, Code: code, Message: "it ended"}
	})
}

func actionFails(e workflow.Error, after time.Duration) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.ActionFailed{Outcome: o, Error: e, RetryAfter: after}
	})
}

func changes(files ...policy.FileChange) act {
	return answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.ChangeRecorded{Outcome: o, Commit: fmt.Sprintf("c%04d", run.Details.Orders), Files: files}
	})
}

func checks(state workflow.ChecksState) act {
	return answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
		return workflow.ChecksEnded{Outcome: o, State: state, Command: "make test", Summary: "lint", Candidate: workflow.Candidate{Head: run.Details.Head, Tree: "t1"}}
	})
}

// silent: the forge reports no check in time.
var silent = times(1, checks(workflow.ChecksSilent), well, func(_ *testing.T, run workflow.Run) workflow.Run {
	since := run.Details.Used.ChecksSince.Add(-grace)
	run.Details.Used.ChecksSince = &since
	return run
}, checks(workflow.ChecksSilent))

func setUpFails(class workflow.FailureClass) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.SetUpEnded{Outcome: o, Class: class, Message: "no such host"}
	})
}

func renewed(warm bool) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.EnvironmentRestored{Outcome: o, Fingerprint: "f1", Warm: warm}
	})
}

var cannotKeep = answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
	return workflow.SnapshotTaken{Outcome: o, Problem: "the disk is full"}
})

func plans(p workflow.Plan) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.PlanAnswered{Outcome: o, Plan: p}
	})
}

// where is a run's position in one line: its state, its phase, and what stopped
// it or what it does next.
func where(r workflow.Run) string {
	words := []string{string(r.State), r.Details.Phase.String()}
	if r.Error != nil {
		return strings.Join(append(words, r.Error.ReasonCode), " ")
	}
	for _, a := range r.Details.Pending {
		word := string(a.Kind)
		switch {
		case a.Until != nil:
			word += " " + a.Until.Sub(epoch).String()
		case a.StepID != "":
			word += fmt.Sprintf(" %s/%d", a.StepID, a.Attempt)
		case a.Role != "":
			word += " " + string(a.Role)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
