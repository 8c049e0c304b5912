package machine

import (
	"slices"
	"testing"

	"signalbox/internal/workflow"
)

func TestWhatHelpsTestsThatCannotRunNamesTheirFile(t *testing.T) {
	t.Parallel()
	const rest = ", or have environment.set_up install what they need"
	notThere, mine := workflow.TestFailure{Command: "make test", ExitCode: 127}, workflow.TestFailure{Command: "nose", ExitCode: 127, OfRequest: true}
	script := workflow.TestFailure{Command: "./test.sh --all", ExitCode: 126}
	for _, c := range []struct {
		name     string
		failures []workflow.TestFailure
		want     []string
	}{
		{"the project's", []workflow.TestFailure{notThere}, []string{"correct tests in .signalbox/config.yaml" + rest}},
		{"the request's", []workflow.TestFailure{mine}, []string{"correct tests in requests/1.md" + rest}},
		{"both", []workflow.TestFailure{notThere, mine}, []string{"correct tests in .signalbox/config.yaml and requests/1.md" + rest}},
		{"a script", []workflow.TestFailure{script}, []string{"let ./test.sh be executed: chmod +x ./test.sh, and commit that; or start it with its shell: sh ./test.sh",
			"correct tests in .signalbox/config.yaml" + rest}},
		{"a script that is not committed", []workflow.TestFailure{{Command: "./test.sh --all", ExitCode: 127}}, []string{
			"a run sees only what is committed: if you have ./test.sh here, git add ./test.sh && git commit", "correct tests in .signalbox/config.yaml" + rest}},
	} {
		b := workflow.BaseCheck{Failures: c.failures}
		var got []string
		for _, step := range corrections(&b, []string{"make test", "nose", "./test.sh --all"}, "requests/1.md") {
			got = append(got, step.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
