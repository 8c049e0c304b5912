package agent

import (
	"context"
	"errors"
	"io"
	"sync"

	"signalbox/internal/process"
)

// Dialogue is a Reader whose program also reads messages on its standard input while it works, and may ask questions. Its methods are called one at
// a time.
type Dialogue interface {
	Reader
	// Answered receives the answer to a question from an earlier Turn. Its response to the program is in the next Turn. A question that is no longer
	// open is ignored.
	Answered(q Question, a Answer)
	// Turn returns the reaction to the lines and answers received since the last call.
	Turn() Turn
}

// Turn is a Dialogue's reaction to a line or to an answer. Nothing in it is performed by the Dialogue itself, so drivers are tested without a program.
type Turn struct {
	// Tell is written to the program's standard input.
	Tell []byte
	// Ask are questions; they are answered one at a time, in order.
	Ask []Question
	// Withdrawn are the ids of questions that the program no longer wants answered: it canceled them, or another answer decided the request that
	// they belong to. An unknown id is ignored.
	Withdrawn []string
	// Over: nothing more is written, and the program's standard input is closed. Programs in this mode end with their input, not with their answer.
	Over bool
}

// readLine is the Line method of a Reader, or of a Dialogue with its reaction performed.
type readLine func(line []byte) (entries []Entry, keep bool)

// listen prepares a command whose output is read and, with a Dialogue, answered. The command must run in the returned context; ended returns its
// result and the reason if it was ended from here.
//
// A Dialogue's deadlines are kept here instead of by process, because they pause while a person thinks, which only this side knows.
func (p Program) listen(ctx context.Context, task Task, c *process.Command) (running context.Context, read readLine, ended func(*process.Result, error) error) {
	dialogue, ok := p.Reader.(Dialogue)
	if !ok {
		return ctx, p.Reader.Line, func(_ *process.Result, err error) error { return err }
	}
	running, end := context.WithCancelCause(ctx)
	t := &talk{Dialogue: dialogue, task: task, end: end, input: process.NewQueue(maxTold), more: make(chan struct{}, 1)}
	t.silence = process.NewDeadline(c.Idle, func() { end(errSilent) })
	t.deadline = process.NewDeadline(c.Total, func() { end(errTooLong) })
	if c.Stdin != nil {
		c.Stdin = io.MultiReader(c.Stdin, t.input)
	} else {
		c.Stdin = t.input
	}
	c.Idle, c.Total = 0, 0
	c.Stdout, c.Stderr = hearing{t.silence, c.Stdout}, hearing{t.silence, c.Stderr}
	// Questions are answered beside the program's output, which may withdraw them.
	var answering sync.WaitGroup
	answering.Go(func() {
		for {
			if w := t.next(); w != nil {
				t.answer(running, w)
				continue
			}
			select {
			case <-t.more:
			case <-running.Done():
				return
			}
		}
	})
	// A deadline that passed here looks like a canceled context to process: give the result its real ending.
	ended = func(result *process.Result, err error) error {
		cause := context.Cause(running)
		end(nil)
		t.silence.Hold()
		t.deadline.Hold()
		t.input.Close()
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

// errSilent ends a call that printed nothing for too long, errTooLong one that ran for too long.
var errSilent, errTooLong = errors.New("the agent printed nothing for too long"), errors.New("the agent worked for too long")

// hearing is a writer that restarts an idle deadline on each write. Any output counts, also a line that means nothing: the program lives.
type hearing struct {
	silence *process.Deadline
	to      io.Writer
}

func (h hearing) Write(p []byte) (int, error) {
	h.silence.Restart()
	return h.to.Write(p)
}
