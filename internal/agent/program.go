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

// Program is the program that a driver runs for a task. Everything else comes from the Task. A Program is a value: methods that change something
// return a copy.
type Program struct {
	// Agent is the agent's name in the configuration.
	Agent string
	// Title is the program's name for people ("Claude Code"); empty if only Args names it.
	Title string
	// Oldest is the first version that knows the driver's arguments, as the driver's own comment proves; empty if unknown. Install is the command that
	// installs the program; with "@latest" behind it, it updates the program.
	Oldest, Install string
	// Args is the program and its arguments. Args[0] is absolute or has no slash. Arguments are visible to other users of the machine, so they hold
	// no key.
	Args []string
	// Env are the driver's own variables (KEY=value). A task's variable replaces one of the same name. They also hold the key of an Endpoint.
	Env []string
	// Stdin is the program's whole input; nil means none. With a Dialogue it is the beginning of the input.
	Stdin io.Reader
	// Reads are files of the host that the program needs besides Args[0], such as its libraries; see Installation.
	Reads []string
	// Files are written before the program starts: content by path. A path begins with "~/", the HOME that the program sees, and never comes from
	// untrusted data. Drivers use it for settings that a program takes from no argument and no variable.
	Files map[string]string
	// Reader parses the program's output; nil takes the whole standard output as the answer. If it is a Dialogue, the program may ask.
	Reader Reader
}

// Run performs the task by running p with exec. Without a Reader, exit code 0 means that the program ended well; with one, the Reader decides.
// Every role but the implementer must answer.
//
// Every driver ends here, so limits, variables, files, the log and the end rule are the same for all of them.
func (p Program) Run(ctx context.Context, task Task, exec process.Executor) (Result, error) {
	if p.Reader != nil && !task.Terminal {
		return p.converse(ctx, task, exec)
	}
	// Programs print the reason for a failure on either stream, so last holds both.
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

// command returns the parts of the command that are the same for every program. Reaches is the model's server, so a sandbox lets the program reach
// it and nothing else on this machine.
func (p Program) command(task Task) process.Command {
	var reaches []string
	if task.Endpoint != nil {
		host, _, _ := strings.Cut(strings.TrimPrefix(task.Endpoint.URL, "http://"), "/")
		reaches = []string{host}
	}
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
		Reaches:     reaches,
	}
}

// implementer is the one role whose work is in the files and not in the answer. The value is part of workflow's documents.
const implementer = "implementer"

// notRun returns the result of a command that Exec could not run to its end. It separates two cases: a program that did not start is the agent's failure; if its output or end was lost, the outcome is unknown and err is
// returned. A sandbox starts before it finds that the program is missing, and then exits with an error.
func (p Program) notRun(end process.Result, err error) (Result, error) {
	unwell := end.Started.IsZero() || end.Ending == process.Exited && !end.OK()
	if !unwell || errors.Is(err, process.ErrUnkillable) {
		return Result{Process: end}, fmt.Errorf("run agent %q: %w", p.Agent, err)
	}
	return Result{Process: end, Failure: p.unseen(err.Error())}, nil
}

// reads returns the files of the host that the command needs. A program without a slash is found by the environment itself.
func (p Program) reads() []string {
	if !strings.Contains(p.Args[0], "/") {
		return p.Reads
	}
	return append([]string{p.Args[0]}, p.Reads...)
}
