package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"signalbox/internal/agent"
)

// Exit codes of Main besides those that the script gives.
const (
	exitFailed = 1 // an action went wrong
	exitUsage  = 2 // the script is broken, or no entry matches this call
)

// Main runs in the agent's own process: it acts out the part of the script args[0]
// that env's SIGNALBOX_* variables ask for, in the working directory, and
// returns the exit code. Args are those behind Config.Program.
func Main(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	entry, err := entryFor(args, env)
	if err != nil {
		return complain(stderr, err, exitUsage)
	}
	dir, err := os.OpenRoot(".")
	if err != nil {
		return complain(stderr, err, exitFailed)
	}
	defer func() { _ = dir.Close() }()
	s := stage{dir: dir, stdin: stdin, stdout: stdout, stderr: stderr}
	for _, step := range entry.Do {
		err := step.action.perform(ctx, s)
		if code := exiting(0); errors.As(err, &code) {
			return int(code)
		}
		if err != nil {
			return complain(stderr, fmt.Errorf("line %d: %s: %w", step.line, step.name, err), exitFailed)
		}
	}
	return 0
}

// complain prints an error and returns the exit code.
func complain(stderr io.Writer, err error, code int) int {
	_, _ = fmt.Fprintln(stderr, "replay:", err)
	return code
}

// entryFor returns the first entry of the script that matches this call.
func entryFor(args []string, env func(string) string) (entry, error) {
	if len(args) != 1 {
		return entry{}, fmt.Errorf("want one argument, the script, and got %d", len(args))
	}
	script, err := readScript(args[0])
	if err != nil {
		return entry{}, err
	}
	attempt, errAttempt := strconv.Atoi(env(agent.VariableAttempt))
	round, errRound := strconv.Atoi(env(agent.VariableRound))
	if err := errors.Join(errAttempt, errRound); err != nil {
		return entry{}, fmt.Errorf("read %s and %s: %w", agent.VariableAttempt, agent.VariableRound, err)
	}
	role, step := env(agent.VariableRole), env(agent.VariableStep)
	for _, e := range script.Entries {
		if matches(e.Role, role) && matches(e.Step, step) && matches(e.Attempt, attempt) && matches(e.Round, round) {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("no entry matches role %q, step %q, attempt %d, round %d", role, step, attempt, round)
}
