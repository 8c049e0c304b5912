package workflow

import (
	"slices"
	"strings"
	"testing"
)

func TestWeakenedTestsNeedAPerson(t *testing.T) {
	t.Parallel()
	was := TestCount{Cases: 3, Skips: 1, Checks: 5}
	for _, c := range []struct {
		file TestFile
		want string
	}{
		{TestFile{Path: "a_test.go", Gone: true, Before: was}, "it removes the tests in a_test.go"},
		{TestFile{Path: "a.sh", Emptied: true}, "it empties a.sh, which held tests"},
		{TestFile{Path: "a_test.go", Before: was, After: TestCount{2, 1, 5}}, "it leaves 2 of 3 test cases in a_test.go"},
		{TestFile{Path: "a_test.go", Before: was, After: TestCount{4, 2, 6}}, "it skips tests in a_test.go (2, before 1)"},
		{TestFile{Path: "a_test.go", Before: was, After: TestCount{3, 1, 4}}, "it leaves 4 of 5 checks in a_test.go"},
		{TestFile{Path: "a_test.go", Before: was, After: TestCount{4, 0, 9}}, ""},
		{TestFile{Path: "main_test.go", Ends: 2}, "it adds or changes what can end the tests early in main_test.go (2)"},
	} {
		record := answered(func(o Outcome, run Run) Event {
			return ChangeRecorded{Outcome: o, Commit: "weaker", Whole: []FileChange{{Path: c.file.Path, OldMode: "100644"}}, Tests: []TestFile{c.file}}
		})
		run := lived(t, ordinary(WorkflowSimple, true), untilAction(RecordChange), record, toTheEnd)
		if asks := run.State == NeedsInput && strings.Contains(run.Error.Message, c.want); asks != (c.want != "") || asks && !slices.Contains(run.Journey.Flags, c.want) {
			t.Errorf("%+v: %s, flags %q, want %q", c.file, where(run), run.Journey.Flags, c.want)
		}
	}
}

func TestAPersonsCommitsDoNotHideWhatTheAgentDidToTheTests(t *testing.T) {
	t.Parallel()
	gone := []TestFile{{Path: "a_test.go", Gone: true}}
	moved := byAda
	moved.Whole, moved.Tests, moved.Concerns = []FileChange{{Path: "a_test.go", OldMode: "100644"}}, gone, []Concern{{Kind: HiddenText, What: "U+202E", Path: "a.go", Line: 1}}
	run := lived(t, ordinary(WorkflowSimple, true), untilPhase(PRCreate), does(moved))
	if len(run.Journey.Flags) != 2 {
		t.Errorf("flags %q", run.Journey.Flags)
	}
}
