package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"signalbox/internal/process"
)

// Program is what a driver runs for a task; all else comes from the Task.
type Program struct {
	// Agent is the name under which the configuration knows the agent.
	Agent string
	// Title is the program's name for people ("Claude Code"); empty where only Args names it.
	Title string
	// Oldest is the version before which the program does not know its arguments, empty where none is
	// known; Install the command that installs it.
	Oldest, Install string
	// Args is the program and its arguments; Args[0] has no slash or is absolute.
	Args []string
	// Env are the driver's own variables (KEY=value); one of the task's replaces one of the same name.
	Env []string
	// Stdin is read to its end; nil means none.
	Stdin io.Reader
	// Reads are files of the host that the program needs besides Args[0].
	Reads []string
	// Files are written before it starts: content by path. A path begins with "~/", which is the
	// HOME that the program has, and is never made of data.
	Files map[string]string
	// Reader understands its output; nil takes the whole of its standard output for the answer.
	Reader Reader
}

// Run performs task by running p with exec. A program without a Reader ends
// well with exit code 0; with one its Reader says. Every role but the
// implementer owes an answer.
func (p Program) Run(ctx context.Context, task Task, exec process.Executor) (Result, error) {
	if p.Reader != nil && !task.Terminal {
		return p.converse(ctx, task, exec)
	}
	// Programs that fail say why on either stream, so last is of both.
	answer, last := tail{limit: MaxAnswer}, tail{limit: lastBytes}
	command := p.command(task)
	command.Stdout, command.Stderr = io.MultiWriter(&answer, &last, task.Log), io.MultiWriter(&last, task.Log)
	end, err := exec.Exec(ctx, command)
	if (err != nil || end.Ending == process.Stopped) && ctx.Err() != nil {
		return Result{}, fmt.Errorf("run agent %q: %w", p.Agent, ctx.Err())
	}
	if err != nil {
		return p.notRun(end, err)
	}
	result := Result{Answer: clean(answer.last()), Process: end, Title: p.Title}
	result.Failure = p.endOf(task, end, lastLine(last.marked()))
	if result.Failure == nil && result.Answer == "" && task.Role != implementer {
		result.Failure = Fail(NoAnswer, "agent %q ended well but printed no answer", p.Agent)
	}
	return result, nil
}

// command is what is the same for every program.
func (p Program) command(task Task) process.Command {
	return process.Command{
		Args:        p.arguments(task),
		Dir:         task.Dir,
		Env:         task.environ(p.Env),
		Stdin:       p.Stdin,
		Idle:        task.Idle,
		Total:       task.Total,
		OutputLimit: task.OutputLimit,
		Reads:       slices.Concat(p.reads(), task.Reads),
		Writes:      task.Writes,
		Reaches:     task.Endpoint.address(),
	}
}

// implementer is the one role whose work is in the files, not in the answer.
const implementer = "implementer"

// notRun parts a program that did not start, which is the agent's failure, from
// one whose output or end was lost, of which nothing can be said. A sandbox
// starts before it finds that there is no such program, and then exits unwell.
func (p Program) notRun(end process.Result, err error) (Result, error) {
	unwell := end.Started.IsZero() || end.Ending == process.Exited && !end.OK()
	if !unwell || errors.Is(err, process.ErrUnkillable) {
		return Result{Process: end}, fmt.Errorf("run agent %q: %w", p.Agent, err)
	}
	return Result{Process: end, Failure: p.unseen(err.Error())}, nil
}

// lastBytes holds a last line of any sensible length.
const lastBytes = 4 << 10

func clean(b []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD"))
}

func (p Program) reads() []string {
	if !strings.Contains(p.Args[0], "/") {
		return p.Reads
	}
	return append([]string{p.Args[0]}, p.Reads...)
}
