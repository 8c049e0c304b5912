package report

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestAReviewerIsToldWhatToLookAt(t *testing.T) {
	t.Parallel()
	r := workflow.Run{Steps: []workflow.Step{{Title: "Greet", Summary: "greets\nthe world", Status: workflow.StepDone}, {Title: "Later", Status: workflow.StepPending}},
		Details: workflow.Details{Head: "abc", Flags: []string{"it changes the CI"}, Isolation: workflow.IsolationNone, Fingerprint: strings.Repeat("f", 64),
			Assistants: []workflow.Assistant{{Role: workflow.Implementer, Program: "Claude Code", Model: "opus | x"}, {Role: workflow.Reviewer, Agent: "script"}},
			Evidence:   []workflow.Evidence{{Purpose: "base", Commit: "before", Command: "make old"}, {Purpose: "unit", Commit: "abc", Command: "make test", Passed: true}, {Purpose: "check on the forge", Commit: "abc", Check: "build | `x`"}}}}
	got := Offer(&r)
	for _, want := range []string{"- Greet: greets", "## To look at\n\n- it changes the CI\n- the commands of this run were not isolated", "`make test` | passed", "what failed there on the forge:", "| check on the forge | `abc` | the commit's | `build \\| 'x'` | failed |  |", "| commit | `abc` |\n|:--|:--|\n",
		"</details>\n\n| commit", "<details><summary>Earlier tests: 1</summary>\n\nTests that", "| base | `before` | the commit's | `make old` | failed | 0s |\n\n</details>", ", script as reviewer |",
		`Claude Code opus \| x as implementer`, "| environment | `ffffffffffffffff` |"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Later") {
		t.Errorf("it names what is not done:\n%s", got)
	}
}
