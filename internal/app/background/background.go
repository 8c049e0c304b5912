// Package background has runs executed by a process of their own, which goes on when the front end that asked for it ends. It decides
// nothing about a run: the process is this program's own command.
package background

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/problem"
	"signalbox/internal/process"
)

// Starter starts this program.
type Starter struct {
	// Program is its path; empty for that of this process.
	Program string
	// Poll is how often Start looks whether the run is at work; 0 is 50 ms.
	Poll time.Duration
}

// atWork are the kinds of ends of a command that executed a run. With the others it never began.
var atWork = []int{problem.OK, problem.NeedsInput, problem.Failed, problem.Canceled}

// Start starts a command that executes the run of a request, such as "run" or "resume", and returns once it does, with the
// process's id. It is an error, with what the command printed, if it ended before.
func (s Starter) Start(ctx context.Context, p *app.App, request, command string, args ...string) (pid int, err error) {
	program := s.Program
	if program == "" {
		if program, err = os.Executable(); err != nil {
			return 0, fmt.Errorf("start a run in the background: %w", err)
		}
	}
	d, err := process.Detach(program, p.Root, append([]string{command}, args...))
	if err != nil {
		return 0, fmt.Errorf("start a run in the background: %w", err)
	}
	defer d.Forget()
	poll := s.Poll
	if poll == 0 {
		poll = 50 * time.Millisecond
	}
	for {
		select {
		case <-d.Ended:
			for _, code := range atWork {
				if d.ExitCode() == code {
					return d.PID, nil
				}
			}
			return d.PID, printed(d)
		case <-time.After(poll):
		case <-ctx.Done():
			return d.PID, fmt.Errorf("process %d has not begun to work on the run yet: %w", d.PID, ctx.Err())
		}
		if holder, held, err := p.Held(ctx, request); err != nil {
			return d.PID, err
		} else if latest, err := p.Store.LatestRun(ctx, request); held && holder.PID == d.PID && err == nil && !latest.Run.State.Ended() {
			return d.PID, nil
		}
	}
}

// printed is the error of a command that ended, from its two lines "error: …" and "hint: …".
func printed(d *process.Detached) error {
	e := &problem.Error{Code: d.ExitCode()}
	for line := range strings.Lines(d.Said()) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, "error: "); ok {
			e.Err = errors.New(text)
		}
		if text, ok := strings.CutPrefix(line, "hint:"); ok {
			e.Hint = strings.TrimSpace(text)
		}
	}
	if e.Err == nil {
		e.Err = fmt.Errorf("the process ended with exit code %d: %s", d.ExitCode(), strings.TrimSpace(d.Said()))
	}
	return e
}
