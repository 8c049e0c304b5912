// Package command drives any program as an agent. The program gets the prompt on its standard input or as an argument, works in its directory, and
// learns from SIGNALBOX_* variables (see package agent) which call it is. Exit code 0 means that it ended well, and its standard output is the
// answer. A program with a protocol of its own needs its own driver.
package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Prompt says how the program is given its instruction.
type Prompt string

const (
	// Stdin is the default: it has no limit, and no other user of the machine sees it.
	Stdin Prompt = "stdin"
	// Argument puts the prompt in place of each argument that is exactly "{prompt}", or
	// else behind the last one.
	Argument Prompt = "argument"
)

// placeholder is never looked for inside a longer argument: the program may be
// a shell, and the prompt must not become part of its script.
const placeholder = "{prompt}"

// MaxArgument is the size from which Linux refuses a single argument: 32 pages
// with the byte that ends it.
const MaxArgument = 32*4096 - 1

// Config is one agent of the configuration.
type Config struct {
	Name string
	// Command is the program and its arguments. A program with a slash must be absolute.
	Command []string
	Prompt  Prompt
	// Env are further variables, KEY=value.
	Env []string
}

// Agent is the driver.
type Agent struct {
	prompt  Prompt
	program agent.Program
}

// New checks the configuration. Check reports whether the program exists.
func New(config Config) (*Agent, error) {
	if config.Prompt == "" {
		config.Prompt = Stdin
	}
	var err error
	switch c := config; {
	case c.Name == "":
		err = errors.New("it needs a name")
	case len(c.Command) == 0 || c.Command[0] == "":
		err = errors.New("it needs a command")
	case strings.Contains(c.Command[0], "/") && !filepath.IsAbs(c.Command[0]):
		err = fmt.Errorf("program %q is neither absolute nor a plain name", c.Command[0])
	case c.Prompt != Stdin && c.Prompt != Argument:
		err = fmt.Errorf("prompt %q is neither %q nor %q", c.Prompt, Stdin, Argument)
	}
	if err != nil {
		return nil, fmt.Errorf("configure agent %q: %w", config.Name, err)
	}
	return &Agent{config.Prompt, agent.Program{Agent: config.Name, Args: config.Command, Env: config.Env}}, nil
}

// Name implements agent.Agent.
func (a *Agent) Name() string { return a.program.Agent }

// Run implements agent.Agent. A prompt that is no valid argument is a Failure, because another attempt would end the same way.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	program := a.program
	if a.prompt == Stdin && !task.Terminal { // at a terminal, standard input is the person's
		program.Stdin = strings.NewReader(task.Prompt)
		return program.Run(ctx, task, exec)
	}
	unfit := ""
	switch {
	case len(task.Prompt) > MaxArgument:
		unfit = fmt.Sprintf("%d bytes do not fit in an argument, which holds %d", len(task.Prompt), MaxArgument)
	case strings.ContainsRune(task.Prompt, 0):
		unfit = "an argument cannot hold a NUL"
	}
	if unfit != "" {
		return agent.Result{Failure: &agent.Failure{Code: agent.Unavailable,
			Message: fmt.Sprintf("agent %q cannot be given its prompt: %s; set prompt to %q", a.Name(), unfit, Stdin)}}, nil
	}
	args, placed := []string{program.Args[0]}, false
	for _, arg := range program.Args[1:] {
		if arg == placeholder {
			arg, placed = task.Prompt, true
		}
		args = append(args, arg)
	}
	if !placed {
		args = append(args, task.Prompt)
	}
	program.Args = args
	return program.Run(ctx, task, exec)
}

// Check finds the program. It asks for no version: that would run an unknown program on this machine, outside of an environment.
func (a *Agent) Check(context.Context) (version string, err error) {
	_, err = a.program.Find()
	return "", err
}
