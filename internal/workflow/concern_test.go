package workflow

import (
	"slices"
	"strings"
	"testing"
)

func records(concerns ...Concern) act {
	return answered(func(o Outcome, _ Run) Event {
		return ChangeRecorded{Outcome: o, Commit: "with it", Whole: []FileChange{{Path: "a.go", NewMode: "100644"}}, Concerns: concerns}
	})
}

func TestAKnownSecretInAChangeGoesBackOnceAndThenToAPerson(t *testing.T) {
	t.Parallel()
	secret := Concern{KnownSecret, "MY_TOKEN", "a.go", 3, ""}
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(TDDGreen), well, records(secret))
	first := run.Journey.Pending[0]
	if first.Kind != CallAgent || !strings.Contains(first.Reason, "it writes the value of MY_TOKEN into a.go, line 3") {
		t.Fatalf("goes on with %s: %q", first.Kind, first.Reason)
	}
	if run.Journey.Head == "with it" || len(run.Journey.Flags) != 0 {
		t.Errorf("the branch is at %q, flags %q", run.Journey.Head, run.Journey.Flags)
	}

	without := lived(t, run.Journey.Settings, func(*testing.T, Run) Run { return run }, well, records())
	if len(without.Journey.Flags) != 0 || without.Journey.Head != "with it" {
		t.Errorf("without the secret: at %q, flags %q", without.Journey.Head, without.Journey.Flags)
	}

	run = lived(t, run.Journey.Settings, func(*testing.T, Run) Run { return run }, well, records(secret), until(func(r Run) bool { return r.State != Running }))
	if run.State != NeedsInput || run.Error.ReasonCode != ApprovalRequired || !strings.Contains(run.Error.Message, "the value of MY_TOKEN into a.go, line 3") {
		t.Errorf("with the secret again: %s %+v", where(run), run.Error)
	}
}

func TestOfASecretThatAPersonSawTheImplementerIsNotToldAgain(t *testing.T) {
	t.Parallel()
	secret := Concern{KnownSecret, "MY_TOKEN", "a.go", 3, ""}
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(TDDGreen), well, records(secret), well, records(secret), testsFail, well, records(secret))
	if next := run.Journey.Pending[0]; next.Kind != RunTests {
		t.Errorf("goes on with %s: %q", next.Kind, next.Reason)
	}
}

func TestWhatOnlyLooksLikeASecretIsForAPersonAtOnce(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(TDDGreen), well, records(Concern{LikelySecret, "a GitHub token", "a.go", 3, ""},
		Concern{HiddenText, "U+202E", "a.go", 4, ""}, Concern{HiddenText, "U+202E", "a.go", 9, ""}))
	want := []string{"it adds what looks like a GitHub token to a.go, line 3", "it adds characters that cannot be seen (U+202E) to a.go, line 4 and 1 line more"}
	if !slices.Equal(run.Journey.Flags, want) || run.Journey.Pending[0].Kind != RunTests {
		t.Errorf("flags %q, then %s", run.Journey.Flags, run.Journey.Pending[0].Kind)
	}
}

func TestAChangeFullOfSecretsIsToldShortly(t *testing.T) {
	t.Parallel()
	var many []Concern
	for i := 1; i <= 1000; i++ {
		many = append(many, Concern{LikelySecret, "an AWS key", strings.Repeat("x", i%500) + ".go", i, ""})
	}
	flags := flagsOf(many)
	if len(flags) != concernsTold+1 || flags[concernsTold] != "there is more of the kind in 480 places" {
		t.Errorf("%d flags, the last %q", len(flags), flags[len(flags)-1])
	}
	if got := flagsOf([]Concern{{KnownSecret, "MY_TOKEN", "[redacted]/x", 0, ""}}); got[0] != "it names a file by the value of MY_TOKEN: [redacted]/x" {
		t.Errorf("a name: %q", got)
	}
}

func TestHiddenTextInARequestIsForAPerson(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(TDDGreen), well, records(Concern{Kind: HiddenInRequest, What: "12"}, Concern{Kind: CommentInRequest, What: "40"}))
	want := []string{"hidden text was removed from the request: 12 characters", "the request has comments that a web page hides: 40 characters"}
	if !slices.Equal(run.Journey.Flags, want) {
		t.Errorf("flags %q", run.Journey.Flags)
	}
}
