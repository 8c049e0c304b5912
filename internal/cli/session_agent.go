package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/runner"
	"signalbox/internal/workflow"
)

// sessionAgent runs an agent in a place as a session wants it. The session's command has the agent's
// prompt as its last argument; what it is otherwise, the driver says.
type sessionAgent struct {
	agent agent.Agent
	place *runner.Place
	// understood: its driver tells what happens; all else shows what its program prints.
	understood bool
	reads      []string // see layReporter
	ceiling    agent.Ceiling
	redact     func(string) string
}

// Exec implements process.Executor.
func (s *sessionAgent) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	inside := &sessionCommand{sessionAgent: s, session: c}
	task := agent.Task{Key: "session", Role: string(workflow.Implementer), Prompt: c.Args[len(c.Args)-1], Dir: s.place.Dir(), Log: c.Stdout,
		Terminal: c.Terminal != nil, Ceiling: s.ceiling, Idle: c.Idle, Total: c.Total}
	if s.understood {
		task.Log, task.Transcript = io.Discard, (&spoken{to: c.Stdout}).tell
	}
	result, err := s.agent.Run(ctx, task, inside)
	if err == nil && result.Failure != nil {
		err = fmt.Errorf("%s: %s", result.Failure.Code, s.redact(result.Failure.Message))
	}
	return inside.result, err
}

// sessionCommand runs the program that a driver chose, connected as the session is.
type sessionCommand struct {
	*sessionAgent
	session process.Command
	result  process.Result
}

// asSignalbox starts a program with our own in its PATH.
const asSignalbox = `PATH="$1:$PATH"; export PATH; shift; exec "$@"`

// Exec implements process.Executor.
func (s *sessionCommand) Exec(ctx context.Context, c process.Command) (_ process.Result, err error) {
	own := s.session
	c.Args = append([]string{"/bin/sh", "-c", asSignalbox, "sh", s.reads[0]}, c.Args...)
	c.Env = slices.Concat(c.Env, own.Env)
	c.Reads, c.Writes, c.Grace = slices.Concat(c.Reads, s.reads), slices.Concat(c.Writes, own.Writes), own.Grace
	if own.Terminal != nil {
		c.Stdin, c.Stdout, c.Stderr, c.Terminal = own.Stdin, own.Stdout, own.Stderr, own.Terminal
	}
	s.result, err = s.place.Exec(ctx, c)
	return s.result, err
}

// spoken prints what an agent that nobody sits at says and does. Its own words stand as they are;
// everything else is a quotation of one line, so that nothing in it is taken for its word.
type spoken struct {
	to     io.Writer
	quoted bool // the last line was
}

func (s *spoken) tell(e agent.Entry) {
	switch e.Kind {
	case agent.Said:
		text := redact.Clean(e.Text)
		if s.quoted {
			text = "\n" + text
		}
		s.quoted = false
		_, _ = fmt.Fprintf(s.to, "%s\n", strings.TrimRight(text, "\n"))
	case agent.ToolCalled:
		s.quote("does", e.Tool+": "+e.Text)
	case agent.PermissionDenied:
		s.quote("denied", e.Tool+": "+e.Text)
	case agent.Retrying:
		s.quote("retry", e.Text)
	case agent.Warned:
		s.quote("warning", e.Text)
	case agent.Erred:
		s.quote("error", e.Text)
	}
}

func (s *spoken) quote(what, text string) {
	s.quoted = true
	_, _ = fmt.Fprintf(s.to, "> %s %s\n", what, redact.Line(text, 200))
}

// errLongPrompt: a program's argument holds no more, and a terminal has no other way.
var errLongPrompt = errors.New("the prompt is too long for an agent at a terminal")

// promptArgument is what the kernel takes as one argument, with some room.
const promptArgument = 120 << 10

// sessionGrace is what an agent has to save its conversation.
const sessionGrace = 2 * time.Second
