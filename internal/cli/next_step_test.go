package cli

import (
	"slices"
	"strings"
	"testing"

	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/workflow"
)

// possibleSteps are all that workflow.NextStep.Validate lets pass, by verb and flags; the walk through all states holds the
// judgement to the same.
func possibleSteps() (steps []workflow.NextStep) {
	for _, verb := range workflow.Verbs {
		for _, runs := range [][]string{nil, {"42"}, {"42", "43"}, {"42", "--force"}} {
			for flags := range 1 << 5 {
				step := workflow.NextStep{Verb: verb, Runs: runs, Cancel: flags&1 > 0, Force: flags&2 > 0, Unsandboxed: flags&4 > 0}
				if flags&8 > 0 {
					step.Environment = "issue-42-20260101-000000-abcdef"
				}
				if flags&16 > 0 {
					step.Blank = "what to change"
				}
				if step.Validate() == nil {
					steps = append(steps, step)
				}
			}
		}
	}
	return steps
}

func TestEveryStepThatARunCanAdviseIsACommand(t *testing.T) {
	t.Parallel()
	verbs := map[workflow.Verb]bool{}
	for _, step := range possibleSteps() {
		verbs[step.Verb] = true
		args := commandline.Arguments(step)
		if len(args) < 2 || args[0] != commandline.Program {
			t.Errorf("%+v is said as %q", step, args)
			continue
		}
		command, rest, err := newRoot(command.NewInvocation(command.Streams{})).Find(args[1:])
		if err != nil || !command.Runnable() {
			t.Errorf("%q names no command: %v", args, err)
			continue
		}
		if err := command.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		if err := command.ValidateArgs(command.Flags().Args()); err != nil {
			t.Errorf("%q: %v", args, err)
		}
		said := slices.DeleteFunc(slices.Concat(step.Runs, []string{step.Environment, step.Blank}), func(s string) bool { return s == "" })
		if got := command.Flags().Args(); !slices.Equal(got, said) {
			t.Errorf("%q is about %q, want %q", args, got, said)
		}
		if path := strings.Fields(command.CommandPath()); !slices.Equal(path, args[:len(path)]) {
			t.Errorf("%q is the command %q", args, path)
		}
	}
	for _, verb := range workflow.Verbs {
		if !verbs[verb] {
			t.Errorf("no step of %q is possible", verb)
		}
	}
}
