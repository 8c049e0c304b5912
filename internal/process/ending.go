package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// askToEnd sends the polite signal. A stopped process acts on no signal but SIGCONT and SIGKILL.
func (p *program) askToEnd(ctx context.Context, c Command, tag string) {
	if !c.Sandbox {
		p.signalGroup(unix.SIGTERM)
		p.signalGroup(unix.SIGCONT)
		return
	}
	// Everything that the leader started is found as in end. The kernel drops a signal to a process namespace's first
	// process unless that has a handler. A process that can't be signaled gets no grace.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWait)
	defer cancel()
	pids, _ := p.suspects()
	for _, pid := range pids {
		if pid == p.process.Pid || pid == os.Getpid() || !tagged(ctx, pid, tag) {
			continue
		}
		if pidfd, err := signalTagged(ctx, pid, tag, unix.SIGTERM, unix.SIGCONT); err == nil {
			_ = unix.Close(pidfd)
		}
	}
}

func (p *program) signalGroup(signal syscall.Signal) {
	// The group may have ended, as the signal asks.
	_ = unix.Kill(-p.process.Pid, signal)
}

// end kills what is left of the tree. The leader is reaped last: until then its process id, which is also the group's, can't be reused.
func (p *program) end(ctx context.Context, tag string) error {
	p.signalGroup(unix.SIGKILL)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWait)
	defer cancel()
	_, err := sweep(ctx, tag, p.suspects)
	select {
	case <-p.exited:
		var reapErr, errGroup error
		if p.waitErr != nil {
			reapErr = fmt.Errorf("wait for process %d: %w", p.process.Pid, p.waitErr)
		} else if p.state, reapErr = p.process.Wait(); reapErr != nil {
			reapErr = fmt.Errorf("reap process %d: %w", p.process.Pid, reapErr)
		}
		p.starved, errGroup = p.group.end(ctx)
		return errors.Join(err, reapErr, errGroup)
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
