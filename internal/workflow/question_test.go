package workflow

import (
	"strings"
	"testing"
	"time"
)

// asks has the agent of the pending call ask.
func asks(q Question) act {
	return func(t *testing.T, r Run) Run {
		q.Key = r.Journey.Pending[0].Key
		return does(Asked{Question: q})(t, r)
	}
}

var mayIt = Question{Kind: PermissionQuestion, Tool: "Bash", Subject: "go vet", Text: "go vet", Always: "Bash(go vet)"}

func working(t *testing.T, acts ...act) Run {
	t.Helper()
	s := ordinary(WorkflowFull, true)
	s.Limits.AnswerWithinSec = 60
	return lived(t, s, append([]act{untilPhase(TDDGreen)}, acts...)...)
}

func TestAQuestionWaitsWithoutMovingTheRun(t *testing.T) {
	t.Parallel()
	before := working(t)
	run := asks(mayIt)(t, before)
	q := run.Journey.Question
	if run.State != Running || q == nil || q.ID != "Q1" || q.Role != Implementer || !q.Until.Equal(epoch.Add(time.Minute)) ||
		run.Progress.Message != "waits for an answer: Bash: go vet" || run.Journey.Pending[0].Key != before.Journey.Pending[0].Key {
		t.Errorf("%+v, %s", q, run.Progress.Message)
	}
	if other, _ := Decide(before, Asked{Question: Question{Key: "001-call_agent"}}, epoch); other.Journey.Transition != before.Journey.Transition {
		t.Error("a question of a call that is not pending was taken")
	}
	withdrawn := does(Withdrawn{Question: "Q1"})(t, run)
	if withdrawn.Journey.Question != nil || withdrawn.Progress.Message != before.Progress.Message {
		t.Errorf("withdrawn: %+v, %q", withdrawn.Journey.Question, withdrawn.Progress.Message)
	}
}

func TestAnAnswerIsTakenOnceAndForItsOwnQuestionAlone(t *testing.T) {
	t.Parallel()
	run := asks(mayIt)(t, working(t))
	run.Signals.Commands = []Command{{ID: "c0", Kind: CommandAnswer}, {ID: "c1", Kind: CommandAnswer}}
	run = does(Answered{Command: "c0", Answer: Answer{Question: "Q7", Verdict: AnswerAllow, By: "ada"}})(t, run)
	if run.Journey.Question == nil || len(run.Signals.Commands) != 1 {
		t.Fatalf("an answer to another question: %+v, %+v", run.Journey.Question, run.Signals.Commands)
	}
	run = does(Answered{Command: "c1", Answer: Answer{Question: "Q1", Verdict: AnswerDeny, Text: "no", By: "ada"}})(t, run)
	if a := run.Journey.Answer; run.Journey.Question != nil || a == nil || a.Verdict != AnswerDeny || len(run.Signals.Commands) != 0 ||
		!strings.HasSuffix(run.Progress.Message, "(denied by ada: Bash: go vet)") {
		t.Errorf("%+v, %q, %+v", a, run.Progress.Message, run.Signals.Commands)
	}
	run = asks(mayIt)(t, run)
	if run.Journey.Question.ID != "Q2" {
		t.Errorf("the second question is %s", run.Journey.Question.ID)
	}
	if again, _ := Decide(run, Answered{Answer: Answer{Question: "Q1", Verdict: AnswerAllow}}, epoch); again.Journey.Question == nil {
		t.Error("an answer to the first question was taken for one to the second")
	}
}

func TestAQuestionEndsWithTheCallThatAskedIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]act{"a stop": does(StopRequested{}), "a crash": crash, "a failure": agentFails("AGENT_HUNG"), "its end": uses(Usage{})} {
		run := end(t, asks(mayIt)(t, working(t)))
		if run.Journey.Question != nil {
			t.Errorf("after %s: %+v", name, run.Journey.Question)
		}
	}
	run := asks(mayIt)(t, crash(t, asks(mayIt)(t, working(t))))
	if run.Journey.Question.ID != "Q2" {
		t.Errorf("after a crash the question is %s", run.Journey.Question.ID)
	}
}

func TestWhatIsAllowedAlwaysIsKeptForTheRole(t *testing.T) {
	t.Parallel()
	always := does(Answered{Answer: Answer{Question: "Q1", Verdict: AnswerAllow, Always: true, By: "ada"}})
	run := always(t, asks(mayIt)(t, working(t)))
	if got := run.Journey.Allowed[Implementer]; len(run.Journey.Allowed) != 1 || len(got) != 1 || got[0] != mayIt.Always {
		t.Errorf("allowed: %v", run.Journey.Allowed)
	}
}

func TestAQuestionRefusesWhatIsNoAnswerToIt(t *testing.T) {
	t.Parallel()
	choice := Question{ID: "Q1", Kind: ChoiceQuestion, Options: []string{"a", "b"}}
	words := Question{ID: "Q1", Kind: TextQuestion}
	may := mayIt
	may.ID = "Q1"
	hidden := Question{ID: "Q1", Kind: PermissionQuestion, Altered: true}
	for _, test := range []struct {
		q    Question
		a    Answer
		says string
	}{
		{may, Answer{Verdict: AnswerAllow}, ""},
		{may, Answer{Verdict: AnswerAllow, Always: true}, ""},
		{may, Answer{Verdict: AnswerDeny, Always: true}, "only what is allowed"},
		{may, Answer{Verdict: AnswerText, Text: "yes"}, "permission"},
		{may, Answer{Verdict: AnswerOption, Option: 1}, "permission"},
		{may, Answer{}, "permission"},
		{hidden, Answer{Verdict: AnswerAllow}, ""},
		{hidden, Answer{Verdict: AnswerAllow, Always: true}, "no pattern"},
		{choice, Answer{Verdict: AnswerOption, Option: 2}, ""},
		{choice, Answer{Verdict: AnswerOption, Option: 3}, "no option 3"},
		{choice, Answer{Verdict: AnswerOption}, "no option 0"},
		{choice, Answer{Verdict: AnswerText, Text: "c"}, ""},
		{choice, Answer{Verdict: AnswerAllow}, "words"},
		{words, Answer{Verdict: AnswerText, Text: " \n"}, "says nothing"},
		{words, Answer{Verdict: AnswerOption, Option: 1}, "no option 1"},
		{words, Answer{Verdict: "maybe"}, "no answer"},
		{words, Answer{Verdict: AnswerDeny}, ""},
	} {
		test.a.Question = "Q1"
		if got := test.q.Refuses(test.a); (got == "") != (test.says == "") || !strings.Contains(got, test.says) {
			t.Errorf("%s refuses %+v with %q, want %q", test.q.Kind, test.a, got, test.says)
		}
	}
}
