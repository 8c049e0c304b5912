package workflow

import (
	"slices"
	"testing"
)

func TestWhatHelpsTestsThatCannotRunNamesTheirFile(t *testing.T) {
	t.Parallel()
	const rest = ", or have environment.set_up install what they need"
	notThere, mine := TestFailure{Command: "make test", ExitCode: 127}, TestFailure{Command: "nose", ExitCode: 127, OfRequest: true}
	script := TestFailure{Command: "./test.sh --all", ExitCode: 126}
	for _, c := range []struct {
		name     string
		failures []TestFailure
		want     []string
	}{
		{"the project's", []TestFailure{notThere}, []string{"correct tests in .signalbox/config.yaml" + rest}},
		{"the request's", []TestFailure{mine}, []string{"correct tests in requests/1.md" + rest}},
		{"both", []TestFailure{notThere, mine}, []string{"correct tests in .signalbox/config.yaml and requests/1.md" + rest}},
		{"a script", []TestFailure{script}, []string{"let ./test.sh be executed: chmod +x ./test.sh, and commit that; or start it with its shell: sh ./test.sh",
			"correct tests in .signalbox/config.yaml" + rest}},
		{"a script that is not committed", []TestFailure{{Command: "./test.sh --all", ExitCode: 127}}, []string{
			"a run sees only what is committed: if you have ./test.sh here, git add ./test.sh && git commit", "correct tests in .signalbox/config.yaml" + rest}},
	} {
		b := BaseCheck{Failures: c.failures}
		var got []string
		for _, step := range b.Corrections([]string{"make test", "nose", "./test.sh --all"}, "requests/1.md") {
			got = append(got, step.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
