package machine

import (
	"slices"
	"testing"
	"time"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/budget"
)

// limitedUntil is an agent that met a limit of its model which ends after d; 0 if nobody says when.
func limitedUntil(d time.Duration) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		e := workflow.AgentFailed{Outcome: o, Code: "AGENT_USAGE_LIMITED", Message: "limit reached"}
		if d != 0 {
			e.Until = epoch.Add(d)
		}
		return e
	})
}

// uses is a call that went well and used so much.
func uses(u workflow.Usage) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		o.Call = &workflow.Call{Agent: "claude", Usage: u, Conversation: &workflow.Conversation{Agent: "claude", ID: "c1"}}
		return workflow.Implemented{Outcome: o}
	})
}

func TestWhatAModelDoesToACall(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	few := full
	few.Limits.Tokens, few.Limits.CostMicroUSD, few.Limits.Calls = 1000, 1_000_000, 5
	green, calling := untilPhase(workflow.TDDGreen), does(workflow.Admitted{Epoch: 2})
	tell(t, []story{
		{"a model that fails is waited for", full, []act{green, agentFails("AGENT_MODEL_FAILED")}, "RUNNING tdd-green wait 30s call_agent S02/1"},
		{"longer each time", full, []act{green, times(2, agentFails("AGENT_UNREACHABLE"), well), agentFails("AGENT_UNREACHABLE")}, "RUNNING tdd-green wait 5m0s call_agent S02/1"},
		{"and after five waits the agent's own retries count", full, []act{green, times(5, agentFails("AGENT_UNREACHABLE"), well), agentFails("AGENT_UNREACHABLE")}, "RUNNING tdd-green call_agent S02/2"},
		{"until they are used up", full, []act{green, times(5, agentFails("AGENT_UNREACHABLE"), well), times(3, agentFails("AGENT_UNREACHABLE"))}, "FAILED tdd-green AGENT_UNREACHABLE"},
		{"a wrong key asks a person", full, []act{green, agentFails("AGENT_UNAUTHORIZED")}, "NEEDS_INPUT tdd-green AGENT_UNAUTHORIZED"},
		{"and the call is made when it is mended", full, []act{green, agentFails("AGENT_UNAUTHORIZED"), resumed}, "RUNNING tdd-green call_agent S02/1"},
		{"a limit parks the run", full, []act{green, limitedUntil(time.Hour)}, "QUEUED tdd-green call_agent S02/1"},
		{"and costs no attempt however often", full, []act{green, times(50, limitedUntil(time.Hour), calling)}, "RUNNING tdd-green call_agent S02/1"},
		{"a parked run can be stopped", full, []act{green, limitedUntil(time.Hour), does(workflow.StopRequested{})}, "NEEDS_INPUT tdd-green STOP_REQUESTED"},
		{"a run that has used its tokens asks before the next call", few, []act{green, uses(workflow.Usage{InputTokens: 900, OutputTokens: 100}), toTheEnd}, "NEEDS_INPUT tdd-refactor AGENT_OVERSPENT"},
		{"or its money", few, []act{green, uses(workflow.Usage{CostMicroUSD: 1_010_000}), toTheEnd}, "NEEDS_INPUT tdd-refactor AGENT_OVERSPENT"},
		{"or its calls", few, []act{green, times(2, agentFails("AGENT_MODEL_FAILED"), well), agentFails("AGENT_MODEL_FAILED")}, "NEEDS_INPUT tdd-green AGENT_OVERSPENT"},
		{"and goes on when a person grants as much again", few, []act{green, uses(workflow.Usage{CostMicroUSD: 1_010_000}), toTheEnd, resumed}, "RUNNING tdd-refactor call_agent S03/1"},
		{"a call that was cut off for money asks", few, []act{green, agentFails("AGENT_OVERSPENT")}, "NEEDS_INPUT tdd-green AGENT_OVERSPENT"},
	})
}

func TestARunThatWaitsForItsModelSaysWhy(t *testing.T) {
	t.Parallel()
	down := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.AgentFailed{Outcome: o, Code: "AGENT_UNREACHABLE", Message: "the model's server models.example cannot be reached\nand more"}
	})
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), down)
	if want := "waiting 30s for the model, retry 1 of 5: the model's server models.example cannot be reached"; run.Progress.Message != want {
		t.Errorf("it says %q, want %q", run.Progress.Message, want)
	}
}

// An agent that is begun anew does not look as if it had worked all the time.
func TestARunSaysThatItsAgentIsCalledAgainAndWhy(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), agentFails("AGENT_CONTEXT_OVERFLOW"))
	if want := "the implementer said more than its model can hold and is called again, retry 1 of 2: it ended"; run.Progress.Message != want {
		t.Errorf("it says %q, want %q", run.Progress.Message, want)
	}
}

func TestACallThatTheDayRefusesIsNotBooked(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	calls := run.Details.Used.Calls
	if run = agentFails("AGENT_DAY_SPENT")(t, run); run.Details.ParkedUntil == nil || run.Details.Used.Calls != calls || run.SpentOn(budget.DateOf(epoch)).Calls != calls {
		t.Errorf("it began with %d calls and has %d, %+v; parked until %v", calls, run.Details.Used.Calls, run.Details.Days, run.Details.ParkedUntil)
	}
	call := answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		o.Call = &workflow.Call{Usage: workflow.Usage{InputTokens: 7}}
		return workflow.AgentFailed{Outcome: o, Code: "AGENT_DAY_SPENT", Message: "it ended"}
	})
	if run = call(t, does(workflow.Admitted{Epoch: 2})(t, run)); run.Details.Used.Calls != calls+1 {
		t.Errorf("a call that reached the day's budget is booked as %d", run.Details.Used.Calls-calls)
	}
}

func TestAParkedRunSaysUntilWhen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		parks []act
		want  time.Duration
	}{
		{"as long as the model's server says", []act{limitedUntil(3 * time.Hour)}, 3 * time.Hour},
		{"never longer than a day at a time", []act{limitedUntil(1000 * time.Hour)}, 24 * time.Hour},
		{"a second at least", []act{limitedUntil(-time.Hour)}, time.Second},
		{"and longer each time that it was not true", []act{times(6, limitedUntil(-time.Hour), does(workflow.Admitted{Epoch: 2})), limitedUntil(-time.Hour)}, 64 * time.Second},
		{"a minute where nobody says", []act{limitedUntil(0)}, time.Minute},
		{"twice as long the second time", []act{limitedUntil(0), does(workflow.Admitted{Epoch: 2}), limitedUntil(0)}, 2 * time.Minute},
		{"an hour at most", []act{times(9, limitedUntil(0), does(workflow.Admitted{Epoch: 2})), limitedUntil(0)}, time.Hour},
	} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), append([]act{untilPhase(workflow.TDDGreen)}, test.parks...)...)
		if until := run.Details.ParkedUntil; until == nil || until.Sub(epoch) != test.want {
			t.Errorf("%s: parked until %v, want %s after %v", test.name, until, test.want, epoch)
		}
		if run.Counters.Retries != 0 || run.Details.Used.AgentRetries != 0 {
			t.Errorf("%s: it cost an attempt: %+v", test.name, run.Details.Used)
		}
		if run = does(workflow.Resumed{})(t, run); run.Details.ParkedUntil != nil || run.State != workflow.Queued {
			t.Errorf("%s: a person cannot begin it at once: %s", test.name, where(run))
		}
	}
}

// What is over, put away or begun anew by a person waits for no model.
func TestAParkedRunThatIsStoppedWaitsNoLonger(t *testing.T) {
	t.Parallel()
	for _, order := range []workflow.Event{workflow.StopRequested{}, workflow.StopRequested{Cancel: true}} {
		run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), limitedUntil(time.Hour), does(order))
		if run.State == workflow.NeedsInput {
			run = does(workflow.Resumed{})(t, run)
		}
		if run.State != workflow.Queued || run.Details.ParkedUntil != nil {
			t.Errorf("after %s: %s, parked until %v", eventName(order), where(run), run.Details.ParkedUntil)
		}
	}
}

func TestARaisedCeilingCountsAtOnce(t *testing.T) {
	t.Parallel()
	few := ordinary(workflow.WorkflowFull, true)
	few.Limits.Tokens = 1000
	run := lived(t, few, untilPhase(workflow.TDDGreen), agentFails("AGENT_OVERSPENT"), does(workflow.Resumed{}), does(workflow.Admitted{Epoch: 2, Budget: &budget.Amount{Tokens: 5000}}))
	if got := run.CallBudget().Tokens; got != 5000 {
		t.Errorf("the next call may use %d tokens, want 5000", got)
	}
	if run = crash(t, run); run.CallBudget().Tokens != 5000 {
		t.Errorf("an admission that says nothing of it left %d", run.CallBudget().Tokens)
	}
}

func TestACallThatIsCutOffLosesNeitherItsCostNorItsConversation(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	call := workflow.Call{Agent: "claude", Usage: workflow.Usage{InputTokens: 70}, Conversation: &workflow.Conversation{Agent: "claude", ID: "c1"}}
	other, _ := Decide(run, workflow.AgentReported{Key: "001-call_agent", Call: call}, epoch)
	if other.Details.Transition != run.Details.Transition {
		t.Error("a report of a call that is not pending was taken")
	}
	run = does(workflow.AgentReported{Key: run.Details.Pending[0].Key, Call: call})(t, run)
	if run.State != workflow.Running || len(run.Details.Pending) != 1 || run.Details.Spent.InputTokens != 0 {
		t.Fatalf("a report moved the run: %s, %+v", where(run), run.Details.Spent)
	}
	call.Usage.InputTokens, call.Reserved.OutputTokens = 90, 10 // an answer was on its way
	run = crash(t, does(workflow.AgentReported{Key: run.Details.Pending[0].Key, Call: call})(t, run))
	if got := run.Details.Spent.Tokens(); got != 100 || run.Details.Conversations[workflow.Implementer].ID != "c1" || run.Details.Calling != nil {
		t.Errorf("after the crash: %d tokens, %+v, %+v", got, run.Details.Conversations, run.Details.Calling)
	}
	run = crash(t, uses(workflow.Usage{InputTokens: 11})(t, run))
	if got := run.Details.Spent.Tokens(); got != 111 {
		t.Errorf("%d tokens in all, want 111", got)
	}
}

func TestTheRunNotesWhoTookPart(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	calls := []workflow.Call{{Agent: "claude", Program: "Claude Code", Model: "m1"}, {Agent: "claude", Program: "Claude Code", Model: "m2"},
		{Agent: "claude", Program: "Claude Code", Model: "m1"}}
	for _, call := range calls {
		run = crash(t, does(workflow.AgentReported{Key: run.Details.Pending[0].Key, Call: call})(t, run))
	}
	var noted []string
	for _, a := range run.Details.Assistants {
		if a.Role == workflow.Implementer {
			noted = append(noted, a.Program+" "+a.Model)
		}
	}
	if want := []string{"Claude Code m1", "Claude Code m2"}; !slices.Equal(noted, want) {
		t.Errorf("the implementers are %q, want %q", noted, want)
	}
}

func TestWhichConversationIsGoneOnWith(t *testing.T) {
	t.Parallel()
	full := ordinary(workflow.WorkflowFull, true)
	kept := lived(t, full, untilPhase(workflow.TDDGreen), uses(workflow.Usage{}))
	if kept.Details.Conversations[workflow.Implementer].ID != "c1" {
		t.Errorf("the implementer's is %+v", kept.Details.Conversations)
	}
	for _, code := range []string{"AGENT_CONTEXT_OVERFLOW", "AGENT_CONVERSATION_LOST"} {
		run := agentFails(code)(t, lived(t, full, untilPhase(workflow.TDDGreen), uses(workflow.Usage{}), testsFailing))
		if _, there := run.Details.Conversations[workflow.Implementer]; there || run.State != workflow.Running {
			t.Errorf("after %s: %s goes on with %+v", code, where(run), run.Details.Conversations)
		}
	}
}

// A planner that only has to answer in the right form need not read the project again, which is what it is paid for.
func TestAPlannerCorrectsItsAnswerInTheSameConversation(t *testing.T) {
	t.Parallel()
	planned := func(event func(workflow.Outcome) workflow.Event) act {
		return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
			o.Call = &workflow.Call{Agent: "claude", Conversation: &workflow.Conversation{Agent: "claude", ID: "c1"}}
			return event(o)
		})
	}
	refused := planned(func(o workflow.Outcome) workflow.Event {
		return workflow.AnswerRefused{Outcome: o, Problems: []string{"no JSON"}}
	})
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilAction(workflow.CallAgent), refused)
	if run.Details.Conversations[workflow.Planner].ID != "c1" || run.Details.Pending[0].Role != workflow.Planner {
		t.Errorf("%s goes on with %+v", where(run), run.Details.Conversations)
	}
	run = planned(func(o workflow.Outcome) workflow.Event {
		return workflow.PlanAnswered{Outcome: o, Plan: workflow.Plan{Actions: workflow.ActionPlan{Steps: []workflow.PlannedStep{{StepID: "S01", Phase: workflow.TDDGreen.Step()}}}}}
	})(t, run)
	if _, there := run.Details.Conversations[workflow.Planner]; there {
		t.Errorf("after the plan: %+v", run.Details.Conversations)
	}
}

// testsFailing sends the step back to the implementer.
var testsFailing = times(1, until(func(run workflow.Run) bool { return run.Details.Pending[0].Kind == workflow.RunTests }), testsFail)
