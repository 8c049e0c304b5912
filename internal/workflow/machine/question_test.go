package machine

import (
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

// asks has the agent of the pending call ask.
func asks(q workflow.Question) act {
	return func(t *testing.T, r workflow.Run) workflow.Run {
		q.Key = r.Details.Pending[0].Key
		return does(workflow.Asked{Question: q})(t, r)
	}
}

var mayIt = workflow.Question{Kind: workflow.PermissionQuestion, Tool: "Bash", Subject: "go vet", Text: "go vet", Always: "Bash(go vet)"}

func working(t *testing.T, acts ...act) workflow.Run {
	t.Helper()
	s := ordinary(workflow.WorkflowFull, true)
	s.Limits.AnswerWithinSec = 60
	return lived(t, s, append([]act{untilPhase(workflow.TDDGreen)}, acts...)...)
}

func TestAQuestionWaitsWithoutMovingTheRun(t *testing.T) {
	t.Parallel()
	before := working(t)
	run := asks(mayIt)(t, before)
	q := run.Details.Question
	if run.State != workflow.Running || q == nil || q.ID != "Q1" || q.Role != workflow.Implementer || !q.Until.Equal(epoch.Add(time.Minute)) ||
		run.Progress.Message != "waits for an answer: Bash: go vet" || run.Details.Pending[0].Key != before.Details.Pending[0].Key {
		t.Errorf("%+v, %s", q, run.Progress.Message)
	}
	if other, _ := Decide(before, workflow.Asked{Question: workflow.Question{Key: "001-call_agent"}}, epoch); other.Details.Transition != before.Details.Transition {
		t.Error("a question of a call that is not pending was taken")
	}
	withdrawn := does(workflow.Withdrawn{Question: "Q1"})(t, run)
	if withdrawn.Details.Question != nil || withdrawn.Progress.Message != before.Progress.Message {
		t.Errorf("withdrawn: %+v, %q", withdrawn.Details.Question, withdrawn.Progress.Message)
	}
}

func TestAnAnswerIsTakenOnceAndForItsOwnQuestionAlone(t *testing.T) {
	t.Parallel()
	run := asks(mayIt)(t, working(t))
	run.Signals.Commands = []workflow.Command{{ID: "c0", Kind: workflow.CommandAnswer}, {ID: "c1", Kind: workflow.CommandAnswer}}
	run = does(workflow.Answered{Command: "c0", Answer: workflow.Answer{Question: "Q7", Verdict: workflow.AnswerAllow, By: "ada"}})(t, run)
	if run.Details.Question == nil || len(run.Signals.Commands) != 1 {
		t.Fatalf("an answer to another question: %+v, %+v", run.Details.Question, run.Signals.Commands)
	}
	run = does(workflow.Answered{Command: "c1", Answer: workflow.Answer{Question: "Q1", Verdict: workflow.AnswerDeny, Text: "no", By: "ada"}})(t, run)
	if a := run.Details.Answer; run.Details.Question != nil || a == nil || a.Verdict != workflow.AnswerDeny || len(run.Signals.Commands) != 0 ||
		!strings.HasSuffix(run.Progress.Message, "(denied by ada: Bash: go vet)") {
		t.Errorf("%+v, %q, %+v", a, run.Progress.Message, run.Signals.Commands)
	}
	run = asks(mayIt)(t, run)
	if run.Details.Question.ID != "Q2" {
		t.Errorf("the second question is %s", run.Details.Question.ID)
	}
	if again, _ := Decide(run, workflow.Answered{Answer: workflow.Answer{Question: "Q1", Verdict: workflow.AnswerAllow}}, epoch); again.Details.Question == nil {
		t.Error("an answer to the first question was taken for one to the second")
	}
}

func TestAQuestionEndsWithTheCallThatAskedIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]act{"a stop": does(workflow.StopRequested{}), "a crash": crash, "a failure": agentFails("AGENT_HUNG"), "its end": uses(workflow.Usage{})} {
		run := end(t, asks(mayIt)(t, working(t)))
		if run.Details.Question != nil {
			t.Errorf("after %s: %+v", name, run.Details.Question)
		}
	}
	run := asks(mayIt)(t, crash(t, asks(mayIt)(t, working(t))))
	if run.Details.Question.ID != "Q2" {
		t.Errorf("after a crash the question is %s", run.Details.Question.ID)
	}
}

func TestWhatIsAllowedAlwaysIsKeptForTheRole(t *testing.T) {
	t.Parallel()
	always := does(workflow.Answered{Answer: workflow.Answer{Question: "Q1", Verdict: workflow.AnswerAllow, Always: true, By: "ada"}})
	run := always(t, asks(mayIt)(t, working(t)))
	if got := run.Details.Allowed[workflow.Implementer]; len(run.Details.Allowed) != 1 || len(got) != 1 || got[0] != mayIt.Always {
		t.Errorf("allowed: %v", run.Details.Allowed)
	}
}

func TestAQuestionRefusesWhatIsNoAnswerToIt(t *testing.T) {
	t.Parallel()
	choice := workflow.Question{ID: "Q1", Kind: workflow.ChoiceQuestion, Options: []string{"a", "b"}}
	words := workflow.Question{ID: "Q1", Kind: workflow.TextQuestion}
	may := mayIt
	may.ID = "Q1"
	hidden := workflow.Question{ID: "Q1", Kind: workflow.PermissionQuestion, Altered: true}
	for _, test := range []struct {
		q    workflow.Question
		a    workflow.Answer
		says string
	}{
		{may, workflow.Answer{Verdict: workflow.AnswerAllow}, ""},
		{may, workflow.Answer{Verdict: workflow.AnswerAllow, Always: true}, ""},
		{may, workflow.Answer{Verdict: workflow.AnswerDeny, Always: true}, "only what is allowed"},
		{may, workflow.Answer{Verdict: workflow.AnswerText, Text: "yes"}, "permission"},
		{may, workflow.Answer{Verdict: workflow.AnswerOption, Option: 1}, "permission"},
		{may, workflow.Answer{}, "permission"},
		{hidden, workflow.Answer{Verdict: workflow.AnswerAllow}, ""},
		{hidden, workflow.Answer{Verdict: workflow.AnswerAllow, Always: true}, "no pattern"},
		{choice, workflow.Answer{Verdict: workflow.AnswerOption, Option: 2}, ""},
		{choice, workflow.Answer{Verdict: workflow.AnswerOption, Option: 3}, "no option 3"},
		{choice, workflow.Answer{Verdict: workflow.AnswerOption}, "no option 0"},
		{choice, workflow.Answer{Verdict: workflow.AnswerText, Text: "c"}, ""},
		{choice, workflow.Answer{Verdict: workflow.AnswerAllow}, "words"},
		{words, workflow.Answer{Verdict: workflow.AnswerText, Text: " \n"}, "says nothing"},
		{words, workflow.Answer{Verdict: workflow.AnswerOption, Option: 1}, "no option 1"},
		{words, workflow.Answer{Verdict: "maybe"}, "no answer"},
		{words, workflow.Answer{Verdict: workflow.AnswerDeny}, ""},
	} {
		test.a.Question = "Q1"
		if got := test.q.Refuses(test.a); (got == "") != (test.says == "") || !strings.Contains(got, test.says) {
			t.Errorf("%s refuses %+v with %q, want %q", test.q.Kind, test.a, got, test.says)
		}
	}
}
