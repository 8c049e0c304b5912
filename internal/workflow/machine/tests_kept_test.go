package machine

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

func TestWeakenedTestsNeedAPerson(t *testing.T) {
	t.Parallel()
	was := policy.TestCount{Cases: 3, Skips: 1, Checks: 5}
	for _, c := range []struct {
		file policy.TestFile
		want string
	}{
		{policy.TestFile{Path: "a_test.go", Gone: true, Before: was}, "it removes the tests in a_test.go"},
		{policy.TestFile{Path: "a_test.go", Gone: true, MovedTo: "a_windows_test.go", Before: was}, "it moves the tests in a_test.go to a_windows_test.go, where they may not run"},
		{policy.TestFile{Path: "a.sh", Emptied: true}, "it empties a.sh, which held tests"},
		{policy.TestFile{Path: "a_test.go", Before: was, After: policy.TestCount{Cases: 2, Skips: 1, Checks: 5}}, "it leaves 2 of 3 test cases in a_test.go"},
		{policy.TestFile{Path: "a_test.go", Before: was, After: policy.TestCount{Cases: 4, Skips: 2, Checks: 6}}, "it skips tests in a_test.go (2, before 1)"},
		{policy.TestFile{Path: "a_test.go", Before: was, After: policy.TestCount{Cases: 3, Skips: 1, Checks: 4}}, "it leaves 4 of 5 checks in a_test.go"},
		{policy.TestFile{Path: "a_test.go", Before: was, After: policy.TestCount{Cases: 4, Skips: 0, Checks: 9}}, ""},
		{policy.TestFile{Path: "main_test.go", Ends: 2}, "it adds or changes what can end the tests early, or leave some out, in main_test.go (2)"},
		{policy.TestFile{Path: "t/a.t", Lines: true, Before: policy.TestCount{Checks: 3}, After: policy.TestCount{Checks: 2}}, "it leaves 2 of 3 lines in t/a.t"},
	} {
		record := answered(func(o workflow.Outcome, run workflow.Run) workflow.Event {
			return workflow.ChangeRecorded{Outcome: o, Commit: "weaker", Whole: []policy.FileChange{{Path: c.file.Path, OldMode: "100644"}}, Tests: []policy.TestFile{c.file}}
		})
		run := lived(t, ordinary(workflow.WorkflowSimple, true), untilAction(workflow.RecordChange), record, toTheEnd)
		if asks := run.State == workflow.NeedsInput && strings.Contains(run.Error.Message, c.want); asks != (c.want != "") || asks && !slices.Contains(run.Details.Flags, c.want) {
			t.Errorf("%+v: %s, flags %q, want %q", c.file, where(run), run.Details.Flags, c.want)
		}
	}
}

func TestAPersonsCommitsDoNotHideWhatTheAgentDidToTheTests(t *testing.T) {
	t.Parallel()
	gone := []policy.TestFile{{Path: "a_test.go", Gone: true}}
	moved := byAda
	moved.Whole, moved.Tests, moved.Concerns = []policy.FileChange{{Path: "a_test.go", OldMode: "100644"}}, gone, []policy.Concern{{Kind: policy.HiddenText, What: "U+202E", Path: "a.go", Line: 1}}
	run := lived(t, ordinary(workflow.WorkflowSimple, true), untilPhase(workflow.PRCreate), does(moved))
	if len(run.Details.Flags) != 2 {
		t.Errorf("flags %q", run.Details.Flags)
	}
}
