package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

func records(concerns ...policy.Concern) act {
	return answered(func(o workflow.Outcome, _ workflow.Run) workflow.Event {
		return workflow.ChangeRecorded{Outcome: o, Commit: "with it", Whole: []policy.FileChange{{Path: "a.go", NewMode: "100644"}}, Concerns: concerns}
	})
}

func TestAKnownSecretInAChangeGoesBackOnceAndThenToAPerson(t *testing.T) {
	t.Parallel()
	secret := policy.Concern{Kind: policy.KnownSecret, What: "MY_TOKEN", Path: "a.go", Line: 3, Commit: ""}
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well, records(secret))
	first := run.Details.Pending[0]
	if first.Kind != workflow.CallAgent || !strings.Contains(first.Reason, "it writes the value of MY_TOKEN into a.go, line 3") {
		t.Fatalf("goes on with %s: %q", first.Kind, first.Reason)
	}
	if run.Details.Head == "with it" || len(run.Details.Flags) != 0 {
		t.Errorf("the branch is at %q, flags %q", run.Details.Head, run.Details.Flags)
	}

	without := lived(t, run.Details.Settings, func(*testing.T, workflow.Run) workflow.Run { return run }, well, records())
	if len(without.Details.Flags) != 0 || without.Details.Head != "with it" {
		t.Errorf("without the secret: at %q, flags %q", without.Details.Head, without.Details.Flags)
	}

	run = lived(t, run.Details.Settings, func(*testing.T, workflow.Run) workflow.Run { return run }, well, records(secret), until(func(r workflow.Run) bool { return r.State != workflow.Running }))
	if run.State != workflow.NeedsInput || run.Error.ReasonCode != workflow.ApprovalRequired || !strings.Contains(run.Error.Message, "the value of MY_TOKEN into a.go, line 3") {
		t.Errorf("with the secret again: %s %+v", where(run), run.Error)
	}
}

func TestOfASecretThatAPersonSawTheImplementerIsNotToldAgain(t *testing.T) {
	t.Parallel()
	secret := policy.Concern{Kind: policy.KnownSecret, What: "MY_TOKEN", Path: "a.go", Line: 3, Commit: ""}
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well, records(secret), well, records(secret), testsFail, well, records(secret))
	if next := run.Details.Pending[0]; next.Kind != workflow.RunTests {
		t.Errorf("goes on with %s: %q", next.Kind, next.Reason)
	}
}

func TestWhatOnlyLooksLikeASecretIsForAPersonAtOnce(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well, records(policy.Concern{Kind: policy.LikelySecret, What: "a GitHub token", Path: "a.go", Line: 3, Commit: ""},
		policy.Concern{Kind: policy.HiddenText, What: "U+202E", Path: "a.go", Line: 4, Commit: ""}, policy.Concern{Kind: policy.HiddenText, What: "U+202E", Path: "a.go", Line: 9, Commit: ""}))
	want := []string{"it adds what looks like a GitHub token to a.go, line 3", "it adds characters that cannot be seen (U+202E) to a.go, line 4 and 1 line more"}
	if !slices.Equal(run.Details.Flags, want) || run.Details.Pending[0].Kind != workflow.RunTests {
		t.Errorf("flags %q, then %s", run.Details.Flags, run.Details.Pending[0].Kind)
	}
}

func TestAChangeFullOfSecretsIsToldShortly(t *testing.T) {
	t.Parallel()
	var many []policy.Concern
	for i := 1; i <= 1000; i++ {
		many = append(many, policy.Concern{Kind: policy.LikelySecret, What: "an AWS key", Path: strings.Repeat("x", i%500) + ".go", Line: i, Commit: ""})
	}
	flags := policy.Flags(many)
	if len(flags) != policy.MaxFlags+1 || flags[policy.MaxFlags] != "there is more of the kind in 480 places" {
		t.Errorf("%d flags, the last %q", len(flags), flags[len(flags)-1])
	}
	if got := policy.Flags([]policy.Concern{{Kind: policy.KnownSecret, What: "MY_TOKEN", Path: "[redacted]/x", Line: 0, Commit: ""}}); got[0] != "it names a file by the value of MY_TOKEN: [redacted]/x" {
		t.Errorf("a name: %q", got)
	}
}

func TestHiddenTextInARequestIsForAPerson(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen), well, records(policy.Concern{Kind: policy.HiddenInRequest, What: "12"}, policy.Concern{Kind: policy.CommentInRequest, What: "40"}))
	want := []string{"hidden text was removed from the request: 12 characters", "the request has comments that a web page hides: 40 characters"}
	if !slices.Equal(run.Details.Flags, want) {
		t.Errorf("flags %q", run.Details.Flags)
	}
}
