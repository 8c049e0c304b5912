package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"signalbox/internal/lazy"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// assignment matches a tag; an empty one would match too many processes.
var assignment = lazy.Pattern(`(?s)^[A-Z][A-Z0-9_]*=[^\x00]+$`)

// Sweep kills every process that was started with exactly this variable assignment in its
// environment ("SIGNALBOX_RUN_ID=20261120-…"), never the calling one, and returns when none is
// left: so a restarted Signalbox ends what its killed predecessor left behind. It skips processes
// whose environment may not be read, those of other users. ctx limits it; a process that outlives
// ctx is ErrUnkillable.
func Sweep(ctx context.Context, tag string) (killed int, err error) {
	if !assignment().MatchString(tag) {
		return 0, fmt.Errorf("sweep processes of %q: not a variable assignment", tag)
	}
	return sweep(ctx, tag, processes)
}

// sweep is Sweep among the processes that list returns.
func sweep(ctx context.Context, tag string, list func() ([]int, error)) (killed int, err error) {
	for {
		found, err := sweepOnce(ctx, tag, list)
		if err != nil {
			return killed, fmt.Errorf("sweep processes of %q: %w", tag, err)
		}
		if found == 0 {
			return killed, nil
		}
		killed += found
	}
}

// sweepOnce kills the processes of one reading of /proc and waits for their end. The next call finds those that were started meanwhile.
func sweepOnce(ctx context.Context, tag string, list func() ([]int, error)) (found int, err error) {
	pids, err := list()
	if err != nil {
		return 0, err
	}
	var dying []int
	defer func() {
		for _, pidfd := range dying {
			_ = unix.Close(pidfd)
		}
	}()
	for _, pid := range pids {
		if pid == os.Getpid() || !tagged(ctx, pid, tag) {
			continue
		}
		pidfd, err := signalTagged(ctx, pid, tag, unix.SIGKILL)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			return found, fmt.Errorf("kill process %d: %w", pid, err)
		}
		dying = append(dying, pidfd)
	}
	for _, pidfd := range dying {
		if err := awaitDeath(ctx, pidfd); err != nil {
			return 0, err
		}
	}
	return len(dying), nil
}

// signalTagged signals pid if it still has the tag, and returns a descriptor of it. A process id may
// be reused at any moment; a descriptor isn't. So the tag is read again once the descriptor is open:
// either it is this process's, or the process has ended and no other gets the signal.
func signalTagged(ctx context.Context, pid int, tag string, signals ...syscall.Signal) (pidfd int, err error) {
	pidfd, err = unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, err
	}
	if !tagged(ctx, pid, tag) {
		err = unix.ESRCH
	}
	for _, signal := range signals {
		if err == nil {
			err = unix.PidfdSendSignal(pidfd, signal, nil, 0)
		}
	}
	if err != nil {
		_ = unix.Close(pidfd)
	}
	return pidfd, err
}

// awaitDeath returns when the process of pidfd is dead, though perhaps not reaped.
func awaitDeath(ctx context.Context, pidfd int) error {
	// How late a canceled ctx is noticed; poll itself returns at once when the process dies.
	const slice = 100 * time.Millisecond
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(slice.Milliseconds()))
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for killed process: %w", err)
		}
	}
	return fmt.Errorf("wait for killed process: %w: %w", ErrUnkillable, ctx.Err())
}
