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

// sessionAgent runs an agent in a place as a session needs it. The last argument of the session's command is the agent's prompt;
// the driver chooses the rest of the command.
type sessionAgent struct {
	agent agent.Agent
	place *place.Place
	// understood: the driver reports what the agent does. Otherwise we show what its program prints.
	understood bool
	reads      []string // see linkReporter
	budget     agent.Budget
	// reports are the commands by which the agent reports.
	reports []string
	// asker answers the agent's questions if no one is at its terminal.
	asker  sessionAsker
	redact func(string) string
}

// perform runs the agent, books what it uses meanwhile, and ends it when a budget is spent.
func (s *sessionAgent) perform(ctx context.Context, task agent.Task, inside *sessionCommand) (agent.Result, error) {
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	m := &meter{book: s.place.Spend, end: end, more: make(chan struct{}, 1)}
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
	m.mu.Lock()
	rest := result.Usage.Sub(m.used) // what the agent reports at its end beyond what it reported on the way
	m.mu.Unlock()
	m.count(rest)
	stop()
	bookErr := <-booked
	cut := result.Failure != nil && result.Failure.Code == agent.Overspent // the gateway only knows the session's budget
	switch cause := context.Cause(working); {
	case m.spent != nil && ctx.Err() == nil && (err != nil || cut):
		return agent.Result{}, m.spent
	case err != nil && ctx.Err() == nil && cause != nil:
		err = cause
	}
	if errors.Is(bookErr, ErrSpent) { // the agent has ended, so there is nothing left to stop
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
		f, until := result.Failure, ""
		if !f.Until.IsZero() {
			until = " until " + commandline.When(f.Until)
		}
		err = errors.New(s.redact(fmt.Sprintf("%s%s: %s", f.Code, until, f.Message)))
	}
	return inside.result, err
}

// sessionCommand runs the program that a driver chose, connected to the session's terminal or output.
type sessionCommand struct {
	*sessionAgent
	session process.Command
	result  process.Result
}

// asSignalbox starts a program with our own program in its PATH.
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

// spoken prints what an agent without a terminal says and does.
type spoken struct {
	to     io.Writer
	mu     sync.Mutex
	quoted bool // the last line was a quotation
}

func (s *spoken) tell(e agent.Entry) {
	switch e.Kind {
	case agent.Said:
		s.print("", redact.Clean(e.Text))
	case agent.ToolCalled:
		s.print("does", e.Tool+": "+e.Text)
	case agent.PermissionDenied:
		s.print("denied", e.Tool+": "+e.Text)
	case agent.Retrying:
		s.print("retry", e.Text)
	case agent.Warned:
		s.print("warning", e.Text)
	case agent.Erred:
		s.print("error", e.Text)
	}
}

// print prints the agent's own words as they are. Text of any other kind becomes a quotation of one line, so that no one takes it for
// the agent's words.
func (s *spoken) print(kind, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case kind != "":
		text = "> " + kind + " " + redact.Line(text, 200)
	case s.quoted:
		text = "\n" + strings.TrimRight(text, "\n")
	default:
		text = strings.TrimRight(text, "\n")
	}
	s.quoted = kind != ""
	_, _ = fmt.Fprintf(s.to, "%s\n", text)
}

// ErrLongPrompt: at a terminal, the prompt must fit into one argument.
var ErrLongPrompt = errors.New("the prompt is too long for an agent at a terminal")

// PromptArgument is the kernel's limit for one argument, with some room, in bytes.
const PromptArgument = 120 << 10

// SessionGrace is how long an agent has to save its conversation.
const SessionGrace = 2 * time.Second
