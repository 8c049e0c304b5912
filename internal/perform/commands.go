package perform

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// verdict is the result of running commands.
type verdict struct {
	passed bool
	// unsettled: a command didn't end by itself but ran out of time or memory.
	unsettled bool
	// failures are the commands that failed, or ran no test.
	failures []workflow.TestFailure
	command  string
	took     time.Duration
	summary  string // of the failure
}

// command is a test with its name for people.
type command struct {
	name string
	process.Command
	// look is the health check that the command belongs to, if any.
	look *look
	// before is called before the command runs; nil if nothing is to be done.
	before func() error
}

// look is the time budget shared by all commands of the failing health check.
type look struct{ limit, left time.Duration }

// testCommands returns the project's tests and the command that asks a configured service. With all, end-to-end tests follow. Tests that only the
// request brings are last, so that what they leave reaches no other test.
func testCommands(s *workflow.Settings, all bool, ask func(workflow.HealthCheck) process.Command) []command {
	commands := shellCommands(s.TestCommands())
	if service := s.Service(); service != nil {
		commands = append(commands, command{name: service.Title(), Command: ask(*service)})
	}
	if s.Check != nil && s.Check.TimeLimitMS != 0 {
		only := &look{s.Check.Limit(), s.Check.Limit()}
		for i := s.Looking(); i < len(commands); i++ {
			commands[i].look = only
		}
	}
	if all {
		commands = append(commands, shellCommands(s.TestsE2E)...)
	}
	ofRequest := func(c command) bool { return slices.Contains(s.OfRequest, c.name) }
	last := slices.DeleteFunc(slices.Clone(commands), func(c command) bool { return !ofRequest(c) })
	return append(slices.DeleteFunc(commands, ofRequest), last...)
}

// shellCommands returns a project's own one-line commands for sh. Each is one argument, never assembled from parts.
func shellCommands(lines []string) (commands []command) {
	for _, line := range lines {
		commands = append(commands, command{name: line, Command: process.Command{Args: []string{"sh", "-c", line}}})
	}
	return commands
}

// runCommands runs commands one after the other: all of them, or without all until one fails. total limits each test of the
// project.
func runCommands(ctx context.Context, env process.Executor, commands []command, variables []string, total time.Duration, all bool, log io.Writer) (verdict, error) {
	v := verdict{passed: true}
	var names []string
	for _, c := range commands {
		names = append(names, c.name)
	}
	v.command = strings.Join(names, " && ")
	for _, c := range commands {
		if c.before != nil {
			if err := c.before(); err != nil {
				return v, err
			}
		}
		out := &tail{limit: readOutput}
		_, _ = fmt.Fprintf(log, "$ %s\n", c.name)
		both := io.MultiWriter(log, out)
		limit := total
		if c.look != nil {
			limit = max(c.look.left, 1)
		}
		c.Env, c.Stdout, c.Stderr, c.Total, c.OutputLimit = variables, both, both, limit, commandOutputLimit
		result, err := env.Exec(ctx, c.Command)
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return v, fmt.Errorf("run %q: %w", c.name, err)
		}
		v.took += result.Duration
		if c.look != nil {
			c.look.left -= result.Duration
		}
		_, _ = fmt.Fprintf(log, "\n[%s]\n", place.Ending(result))
		v.ended(&c, result, out)
		if !result.OK() && !all {
			break
		}
	}
	return v, nil
}

const (
	// readOutput is how much of the end of a command's output is searched for the names of tests, in bytes.
	readOutput = 4 << 20
	// shownOutput is how much of it people and agents see.
	shownOutput = 8 << 10
	// mostNames is how many tests are named. More fit neither a document nor a person's eye.
	mostNames = 200
)

// ended adds one command's result.
func (v *verdict) ended(c *command, result process.Result, out *tail) {
	read := environment.ReadTests(redact.Clean(out.String()))
	f := workflow.TestFailure{Command: c.name, ExitCode: result.ExitCode, NoTests: read.None, Unsettled: place.Unsettled(result)}
	if result.OK() {
		if f.NoTests {
			v.failures = append(v.failures, f)
		}
		return
	}
	f.Tests = read.Failed
	f.Unnamed = read.Unnamed || len(f.Tests) == 0 || len(f.Tests) > mostNames || out.cut
	f.Tests = f.Tests[:min(len(f.Tests), mostNames)]
	shown := &tail{limit: shownOutput}
	_, _ = shown.Write([]byte(out.String()))
	ending := place.Ending(result)
	if c.look != nil && result.Ending == process.TimedOut { // its own limit may only be what the check's other commands left
		ending += fmt.Sprintf("; the health check has to end within %s", c.look.limit)
	}
	f.Summary = fmt.Sprintf("%s: %s\n%s", redact.Line(c.name, 200), ending, shown.marked())
	v.passed, v.unsettled = false, v.unsettled || f.Unsettled
	v.failures = append(v.failures, f)
	if v.summary == "" {
		v.summary = f.Summary
	}
}
