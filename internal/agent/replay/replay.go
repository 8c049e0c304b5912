// Package replay is an agent that acts out a script: for demonstrations and
// tests, without a model. It is a child process like any other agent, run in
// the same environment under the same limits; so its failures, delays and
// crashes are real ones.
//
// A script is a YAML file:
//
//	entries:
//	  - role: implementer      # which calls this entry is for;
//	    step: S01              # a key left out matches every call
//	    attempt: 1
//	    round: 0
//	    do:                    # actions, one key each, in this order
//	      - print: Reading the parser.
//	      - delay: 1.5s
//	      - patch: |
//	          --- a/parser.go
//	          …
//	      - answer: Handled the empty line.
//
// The first entry that matches is used, and may be used any number of times:
// a call is repeated after a crash. The program ends with exit code 0 after
// the last action, with 1 after an action that went wrong, and with 2 if the
// script is broken or no entry matches. Keys that are not listed here are
// refused, with their line number. The actions:
//
//	print:  text     to standard output, with a newline
//	answer: any      to standard output: text as it is, all else as JSON. What was printed
//	                 before is part of the answer, as with every agent that speaks plain text.
//	patch:  text     a unified diff for git apply; nothing is done if it is applied already
//	write:  {path: text}       files, with their folders, inside the working directory
//	delete: path or [path, …]  files or whole folders there, if they exist
//	delay:  duration such as 300ms or 1m
//	run:    [program, argument, …]  with the agent's own standard input and output; what it
//	                 leaves running in the background stays. Another exit code than 0 goes wrong.
//	exit:   code     ends the program
//	crash:  signal   ends it by SIGKILL, SIGTERM, SIGINT or SIGHUP, without a chance to tidy up
//	hang:   true     does and prints nothing for ever
//	flood:  bytes    to standard output, as fast as it takes them
package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/process"
)

// Config is one replay agent of the configuration.
type Config struct {
	Name string
	// Program is the command that reaches Main when the script's path is added to it; Program[0] is absolute.
	Program []string
	// Script is the absolute path of the script.
	Script string
	// Env are further variables, KEY=value.
	Env []string
}

// Agent is the driver.
type Agent struct {
	// program reaches Main with the script.
	program agent.Program
	script  string
}

// New checks the configuration. Check reads the script.
func New(config Config) (*Agent, error) {
	switch {
	case config.Name == "":
		return nil, errors.New("configure replay agent: it needs a name")
	case len(config.Program) == 0 || !filepath.IsAbs(config.Program[0]):
		return nil, fmt.Errorf("configure agent %q: program %q does not begin with an absolute path", config.Name, config.Program)
	case !filepath.IsAbs(config.Script):
		return nil, fmt.Errorf("configure agent %q: script %q is not an absolute path", config.Name, config.Script)
	}
	return &Agent{script: config.Script, program: agent.Program{Agent: config.Name, Env: config.Env, Reads: []string{config.Script},
		Args: append(slices.Clone(config.Program), config.Script)}}, nil
}

// Name implements agent.Agent.
func (a *Agent) Name() string { return a.program.Agent }

// Run lets Main act out the script in a child process.
func (a *Agent) Run(ctx context.Context, task agent.Task, exec process.Executor) (agent.Result, error) {
	program := a.program
	program.Stdin = strings.NewReader(task.Prompt)
	return program.Run(ctx, task, exec)
}

// Check finds the program and reads the script.
func (a *Agent) Check(context.Context) (version string, err error) {
	if _, err := a.program.Find(); err != nil {
		return "", err
	}
	_, err = readScript(a.script)
	return "", err
}
