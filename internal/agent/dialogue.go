package agent

import (
	"context"
	"errors"
	"sync"

	"signalbox/internal/process"
)

// Dialogue is a Reader whose program is also told things while it works, on its standard input, and
// may ask. Its methods are called one at a time.
type Dialogue interface {
	Reader
	// Answered takes the answer to a question that a Turn had.
	Answered(q Question, a Answer)
	// Turn is what follows from the lines and answers taken since it was asked for last.
	Turn() Turn
}

// Turn is what a Dialogue makes of a line, or of an answer.
type Turn struct {
	// Tell goes to the program's standard input.
	Tell []byte
	// Ask are questions, which are answered one after the other in their order.
	Ask []Question
	// Withdrawn are the ids of questions to which the program wants no answer any more.
	Withdrawn []string
	// Over: it is told nothing more, and its standard input ends.
	Over bool
}

// readLine is a Reader's Line.
type readLine func(line []byte) (entries []Entry, keep bool)

// listen prepares a command whose output is read, and with a Dialogue answered. The command is to run
// in the context; ended puts together what it came to and why it was ended from here.
func (p Program) listen(ctx context.Context, task Task, c *process.Command) (running context.Context, read readLine, ended func(*process.Result, error) error) {
	dialogue, ok := p.Reader.(Dialogue)
	if !ok {
		return ctx, p.Reader.Line, func(_ *process.Result, err error) error { return err }
	}
	running, end := context.WithCancelCause(ctx)
	t := &talk{Dialogue: dialogue, task: task, end: end, input: newInbox(c.Stdin), more: make(chan struct{}, 1)}
	t.silence = newSilence(c.Idle, func() { end(errSilent) })
	t.deadline = process.NewDeadline(c.Total, func() { end(errTooLong) })
	c.Stdin, c.Idle, c.Total = t.input, 0, 0
	c.Stdout, c.Stderr = t.silence.hearing(c.Stdout), t.silence.hearing(c.Stderr)
	var answering sync.WaitGroup
	answering.Go(func() { t.answerAll(running) })
	ended = func(result *process.Result, err error) error {
		cause := context.Cause(running)
		end(nil)
		t.silence.stop()
		t.deadline.Hold()
		t.input.close()
		answering.Wait()
		switch {
		case ctx.Err() != nil || cause == nil || result.Ending != process.Stopped:
			return err
		case errors.Is(cause, errSilent):
			result.Ending = process.Idled
			return err
		case errors.Is(cause, errTooLong):
			result.Ending = process.TimedOut
			return err
		}
		return errors.Join(err, cause)
	}
	return running, func(line []byte) ([]Entry, bool) { return t.read(running, line) }, ended
}
