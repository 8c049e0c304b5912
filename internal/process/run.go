package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"time"
)

const (
	// linger is how long descendants may keep printing after a program ended by itself: enough for
	// the last lines of a pipeline, too short for a forgotten server to hold up the run.
	linger = time.Second
	// killWait bounds the wait for the kernel to end what got SIGKILL. Only a process stuck in an
	// uninterruptible system call (a dead network file system) takes longer.
	killWait = 5 * time.Second
	// sweepWait bounds the search for survivors. It takes milliseconds, and some seconds where
	// hundreds of trees end at the same moment.
	sweepWait = 30 * time.Second
	// pidLap is too short for the kernel to hand out every process id (32,768 at the least) and
	// start again.
	pidLap = 500 * time.Millisecond
)

// ErrUnkillable: a process still exists although it got SIGKILL.
var ErrUnkillable = errors.New("process does not die")

// Host runs commands on this machine as they are. It isolates nothing.
type Host struct {
	// Observe, if set, is called with every command that was started and its result.
	Observe func(Command, Result)
}

// Exec implements Executor.
func (h Host) Exec(ctx context.Context, c Command) (Result, error) {
	result, err := Run(ctx, c)
	if h.Observe != nil && !result.Started.IsZero() {
		h.Observe(c, result)
	}
	return result, err
}

// Run runs c to its end and returns when nothing of its tree is left. It finds a process that
// leaves the process group by the variable tagName, which it adds to the environment. A process
// that both leaves the group and drops its environment escapes; only a sandbox with process ids of
// its own holds it.
//
// A canceled context ends the tree and is no error: Result.Ending is Stopped. If an error comes
// with a Result, the program ended as the Result says, but its output, its input or the end of its
// tree failed.
func Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Ending: Stopped}, nil
	}
	tag := tagName + "=" + self() + "." + rand.Text()
	oom := watchOOM()
	s, err := newStreams(c)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	p, err := start(c, s, tag)
	if err != nil {
		return Result{}, err
	}
	ending := p.await(ctx, c, s, tag)
	err = p.end(ctx, tag)
	streamErr := s.finish()
	result := p.result()
	result.Ending, result.Truncated = ending, s.sink.cut
	if ending == Exited && (oom.killed(result) || p.starved && !result.OK()) {
		result.Ending = NoMemory
	}
	return result, errors.Join(err, streamErr)
}

// await returns when the leader has ended and its streams are closed, or when it is time for SIGKILL.
func (p *program) await(ctx context.Context, c Command, s *streams, tag string) Ending {
	ending := p.awaitLeader(ctx, c, s)
	patience, quit := linger, ctx.Done()
	if ending != Exited {
		p.askToEnd(ctx, c, tag)
		patience, quit = cmp.Or(c.Grace, DefaultGrace), nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for exited, closed := p.exited, s.closed; exited != nil || closed != nil; {
		select {
		case <-exited:
			exited = nil
		case <-closed:
			closed = nil
		case <-quit:
			return ending
		case <-timer.C:
			return ending
		}
	}
	return ending
}

// awaitLeader waits until the leader exits or must be ended, and returns why.
func (p *program) awaitLeader(ctx context.Context, c Command, s *streams) Ending {
	total, idle := newDeadline(c.Total), newDeadline(c.Idle)
	defer total.Stop()
	defer idle.Stop()
	for {
		select {
		case <-p.exited:
			return Exited
		case <-ctx.Done():
			return Stopped
		case <-total.C:
			return TimedOut
		case <-idle.C:
			left := c.Idle - time.Since(s.sink.begun) + time.Duration(s.sink.printed.Load())
			if left <= 0 {
				return Idled
			}
			idle.Reset(left)
		}
	}
}

// newDeadline returns a timer that fires after d, or in 292 years when d is zero.
func newDeadline(d time.Duration) *time.Timer {
	if d == 0 {
		d = math.MaxInt64
	}
	return time.NewTimer(d)
}

// Foreground runs the user's own program (an editor, a pager) on their terminal and waits for it. It stays in our
// process group, so that the terminal's keys reach it. Unlike Run it limits nothing and ends nothing that the program
// leaves behind: the program is the user's, not a project's.
func Foreground(ctx context.Context, args, env []string, in io.Reader, out, errs io.Writer) error {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = env, in, out, errs
	if err := c.Run(); err != nil {
		return fmt.Errorf("run %q: %w", args[0], err)
	}
	return nil
}
