package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/agent"
	"signalbox/internal/commandline"
	"signalbox/internal/place"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// sessionAgent runs an agent in a place as a session wants it. The session's command has the agent's
// prompt as its last argument; what it is otherwise, the driver says.
type sessionAgent struct {
	agent agent.Agent
	place *place.Place
	// understood: its driver tells what happens; all else shows what its program prints.
	understood bool
	reads      []string // see layReporter
	budget     agent.Budget
	// reports are the commands by which the agent reports.
	reports []string
	// asker answers what the agent asks, which it does without anybody at its terminal.
	asker  sessionAsker
	redact func(string) string
}

// perform has the agent work while what it uses is booked, and ends it where a budget is reached.
func (s *sessionAgent) perform(ctx context.Context, task agent.Task, inside *sessionCommand) (agent.Result, error) {
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	m := newMeter(end, s.place.Spend)
	show := task.Transcript
	task.Transcript = func(e agent.Entry) {
		if e.Kind == agent.Used && e.Usage != nil {
			m.count(*e.Usage)
		}
		if show != nil {
			show(e)
		}
	}
	booking, stop := context.WithCancel(context.WithoutCancel(ctx))
	booked := make(chan error, 1)
	go func() { booked <- m.run(booking) }()
	result, err := s.agent.Run(working, task, inside)
	m.total(result.Usage)
	stop()
	bookErr := <-booked
	cut := result.Failure != nil && result.Failure.Code == agent.Overspent // by the gateway, which knows no other budgets than the session's
	switch cause := context.Cause(working); {
	case m.spent != nil && ctx.Err() == nil && (err != nil || cut):
		return agent.Result{}, m.spent
	case err != nil && ctx.Err() == nil && cause != nil:
		err = cause
	}
	if errors.Is(bookErr, ErrSpent) { // at its end there is nothing to stop any more
		bookErr = nil
	}
	return result, errors.Join(err, bookErr)
}

// Exec implements process.Executor.
func (s *sessionAgent) Exec(ctx context.Context, c process.Command) (process.Result, error) {
	inside := &sessionCommand{sessionAgent: s, session: c}
	task := agent.Task{Key: "session", Role: string(workflow.Implementer), Prompt: c.Args[len(c.Args)-1], Dir: s.place.Dir(), Private: s.place.Private(), Log: c.Stdout,
		Terminal: c.Terminal != nil, Reports: s.reports, Budget: s.budget, Idle: c.Idle, Total: c.Total}
	if s.understood {
		says := &spoken{to: c.Stdout}
		asker := s.asker
		asker.says = says
		task.Log, task.Transcript, task.Ask = io.Discard, says.tell, asker.ask
	}
	result, err := s.perform(ctx, task, inside)
	if err == nil && result.Failure != nil {
		err = errors.New(s.redact(toldOf(result.Failure)))
	}
	return inside.result, err
}

// toldOf is a failure in the words of a session's outcome.
func toldOf(f *agent.Failure) string {
	if f.Until.IsZero() {
		return fmt.Sprintf("%s: %s", f.Code, f.Message)
	}
	return fmt.Sprintf("%s until %s: %s", f.Code, commandline.When(f.Until), f.Message)
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
	mu     sync.Mutex
	quoted bool // the last line was
}

func (s *spoken) tell(e agent.Entry) {
	switch e.Kind {
	case agent.Said:
		s.word(redact.Clean(e.Text))
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

func (s *spoken) word(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.quoted {
		text = "\n" + text
	}
	s.quoted = false
	_, _ = fmt.Fprintf(s.to, "%s\n", strings.TrimRight(text, "\n"))
}

func (s *spoken) quote(what, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quoted = true
	_, _ = fmt.Fprintf(s.to, "> %s %s\n", what, redact.Line(text, 200))
}

// ErrLongPrompt: a program's argument holds no more, and a terminal has no other way.
var ErrLongPrompt = errors.New("the prompt is too long for an agent at a terminal")

// PromptArgument is what the kernel takes as one argument, with some room.
const PromptArgument = 120 << 10

// SessionGrace is what an agent has to save its conversation.
const SessionGrace = 2 * time.Second
