package command_test

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"signalbox/internal/agent"
	"signalbox/internal/agent/agenttest"
	"signalbox/internal/agent/command"
	"signalbox/internal/process"
)

func TestConformanceOnStdin(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, harness(command.Stdin, "cat"))
}

func TestConformanceAsArgument(t *testing.T) {
	t.Parallel()
	agenttest.Run(t, harness(command.Argument, `printf %s "$1"`))
}

func harness(prompt command.Prompt, echo string) agenttest.Harness {
	answer := fmt.Sprintf("echo '%s' >&2; printf '%%s\\n' '%s'", agenttest.WorkLine, agenttest.AnswerText)
	scripts := map[agenttest.Behavior]string{
		agenttest.Answers:  "cat >/dev/null; " + answer,
		agenttest.Silent:   "true",
		agenttest.Fails:    "echo '" + agenttest.FailLine + "' >&2; exit 1",
		agenttest.Killed:   "kill -KILL $$",
		agenttest.Hangs:    "sleep 600",
		agenttest.Chatters: "while echo chatter; do sleep 0.1; done",
		agenttest.Floods:   fmt.Sprintf("head -c %d /dev/zero", agenttest.FloodBytes),
		agenttest.Echoes:   echo,
		agenttest.Deaf:     answer,
		agenttest.Tells:    "env",
		agenttest.Leaves:   agenttest.Daemon,
		agenttest.Stays:    agenttest.Daemon + "; sleep 600",
	}
	return agenttest.Harness{
		Exec: process.Host{},
		Dir:  func(t *testing.T) string { return t.TempDir() },
		Agent: func(t *testing.T, b agenttest.Behavior) agent.Agent {
			args := []string{"sh", "-c", scripts[b], "sh"}
			if b == agenttest.Missing {
				args = []string{"/opt/" + agenttest.MissingProgram}
			}
			return newAgent(t, prompt, args...)
		},
	}
}

func newAgent(t *testing.T, prompt command.Prompt, args ...string) *command.Agent {
	t.Helper()
	a, err := command.New(command.Config{Name: "shell", Command: args, Prompt: prompt, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config command.Config
		want   string
	}{
		{name: "no name", config: command.Config{Command: []string{"x"}}, want: "needs a name"},
		{name: "no command", config: command.Config{Name: "a"}, want: "needs a command"},
		{name: "an empty program", config: command.Config{Name: "a", Command: []string{""}}, want: "needs a command"},
		{name: "a program relative to who knows what", config: command.Config{Name: "a", Command: []string{"./x"}}, want: "neither absolute"},
		{name: "another way to prompt", config: command.Config{Name: "a", Command: []string{"x"}, Prompt: "file"}, want: `prompt "file"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := command.New(test.config); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("New = %v, want %q", err, test.want)
			}
		})
	}
}

func TestProgramWithoutSlashIsUnavailableWhenItIsNotInPath(t *testing.T) {
	t.Parallel()
	a := newAgent(t, command.Stdin, agenttest.MissingProgram)
	result, err := a.Run(t.Context(), agent.Task{Dir: t.TempDir(), Log: io.Discard}, process.Host{})
	if err != nil || result.Failure == nil || result.Failure.Code != agent.Unavailable || !strings.Contains(result.Failure.Message, agenttest.MissingProgram) {
		t.Errorf("Run = %+v, %v", result.Failure, err)
	}
	if _, err := a.Check(t.Context()); err == nil || !strings.Contains(err.Error(), agenttest.MissingProgram) {
		t.Errorf("Check = %v", err)
	}
}

func TestPromptTakesThePlaceOfWholeArgumentsOnly(t *testing.T) {
	t.Parallel()
	a := newAgent(t, command.Argument, "printf", `<%s>`, "{prompt}", "x{prompt}", "{prompt}", "last")
	result, err := a.Run(t.Context(), agent.Task{Dir: t.TempDir(), Prompt: "-e $(id)", Log: io.Discard}, process.Host{})
	if want := "<-e $(id)><x{prompt}><-e $(id)><last>"; err != nil || result.Answer != want {
		t.Errorf("answer %q, %v; want %q (%+v)", result.Answer, err, want, result.Failure)
	}
}

func TestPromptThatFitsInNoArgument(t *testing.T) {
	t.Parallel()
	a := newAgent(t, command.Argument, "printf", "%s")
	for _, test := range []struct {
		name, prompt, want string
	}{
		{name: "the largest argument is given", prompt: strings.Repeat("x", command.MaxArgument)},
		{name: "a larger one is not", prompt: strings.Repeat("x", command.MaxArgument+1), want: "131072 bytes do not fit"},
		{name: "a NUL is not", prompt: "a\x00b", want: "NUL"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result, err := a.Run(t.Context(), agent.Task{Dir: t.TempDir(), Prompt: test.prompt, Log: io.Discard}, process.Host{})
			switch {
			case err != nil:
				t.Fatal(err)
			case test.want == "" && (result.Failure != nil || result.Answer != test.prompt):
				t.Errorf("%d bytes came back, %+v", len(result.Answer), result.Failure)
			case test.want != "" && (result.Failure == nil || result.Failure.Code != agent.Unavailable || !strings.Contains(result.Failure.Message, test.want)):
				t.Errorf("Failure = %+v, want %q", result.Failure, test.want)
			}
		})
	}
}

func TestAnswerIsTheEndOfALongOutput(t *testing.T) {
	t.Parallel()
	a := newAgent(t, command.Stdin, "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo the end")
	result, err := a.Run(t.Context(), agent.Task{Dir: t.TempDir(), Log: io.Discard}, process.Host{})
	if err != nil || len(result.Answer) > agent.MaxAnswer || !strings.HasSuffix(result.Answer, "xxxthe end") {
		t.Errorf("answer of %d bytes, %v", len(result.Answer), err)
	}
}

func TestSandboxIsShownTheProgram(t *testing.T) {
	t.Parallel()
	for program, want := range map[string][]string{"/bin/sh": {"/bin/sh"}, "sh": nil} {
		var got process.Command
		exec := process.Host{Observe: func(c process.Command, _ process.Result) { got = c }}
		a := newAgent(t, command.Stdin, program, "-c", "pwd")
		dir := t.TempDir()
		result, err := a.Run(t.Context(), agent.Task{Dir: dir, Log: io.Discard}, exec)
		if err != nil || result.Answer != dir || !slices.Equal(got.Reads, want) {
			t.Errorf("%s: ran in %q with Reads %q, %v; want %q", program, result.Answer, got.Reads, err, want)
		}
	}
}
