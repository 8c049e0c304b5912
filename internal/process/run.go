package process

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"golang.org/x/sys/unix"
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
	// pidLap is a time in which the kernel does not hand out every process id there is (32,768 at
	// the least) and come back to where it was.
	pidLap = 500 * time.Millisecond
)

// ErrUnkillable: a process is still there although it got SIGKILL.
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

// Run runs c to its end and returns when nothing of its tree is left: what leaves the process
// group is found by a variable that Run adds to the environment, named by tagName. A process that
// both leaves the group and forgets its environment escapes; only a sandbox with process ids of
// its own holds that one.
//
// A context that is canceled ends the tree and is no error: Result.Ending is Stopped. When an
// error comes with a Result, the program ended as the Result says, but its output, its input or
// the end of its tree did not come to a good end.
func Run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Ending: Stopped}, nil
	}
	tag := newTag()
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
	result.Ending, result.Truncated = ending, s.sink.truncated()
	if ending == Exited && (oom.killed(result) || p.starved && !result.OK()) {
		result.Ending = NoMemory
	}
	return result, errors.Join(err, streamErr)
}

// await returns once the leader ended and its streams are closed, or once it is time for SIGKILL.
func (p *program) await(ctx context.Context, c Command, s *streams, tag string) Ending {
	ending := p.awaitLeader(ctx, c, s)
	patience, quit := linger, ctx.Done()
	if ending != Exited {
		p.askToEnd(ctx, c, tag)
		patience, quit = c.grace(), nil
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

// awaitLeader returns when the leader exited or has to be ended, and why.
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
			left := c.Idle - s.sink.quiet()
			if left <= 0 {
				return Idled
			}
			idle.Reset(left)
		}
	}
}

// end kills what is left of the tree. The leader is reaped last: until then its process id, which is also the group's, can't be reused.
func (p *program) end(ctx context.Context, tag string) error {
	p.signalGroup(unix.SIGKILL)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWait)
	defer cancel()
	_, err := sweep(ctx, tag, p.suspects)
	select {
	case <-p.exited:
		err = errors.Join(err, p.reap())
		p.starved = p.group.killed()
		return errors.Join(err, p.group.end(ctx))
	case <-time.After(killWait):
		return errors.Join(err, fmt.Errorf("end process %d: %w", p.process.Pid, ErrUnkillable))
	}
}

// suspects returns the processes that may belong to the tree.
func (p *program) suspects() ([]int, error) {
	pids, err := processes()
	if time.Since(p.started) < pidLap {
		pids = youngerThan(p.process.Pid, pids)
	}
	return pids, err
}

// newDeadline returns a timer that fires after d, or in 292 years when d is zero.
func newDeadline(d time.Duration) *time.Timer {
	if d == 0 {
		d = math.MaxInt64
	}
	return time.NewTimer(d)
}
