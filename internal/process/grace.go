package process

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// askToEnd sends the polite signal. A stopped process acts on no signal but SIGCONT and SIGKILL.
func (p *program) askToEnd(ctx context.Context, c Command, tag string) {
	if c.Sandbox {
		p.signalInside(ctx, tag, unix.SIGTERM, unix.SIGCONT)
		return
	}
	p.signalGroup(unix.SIGTERM)
	p.signalGroup(unix.SIGCONT)
}

// signalInside signals everything that the leader started, found the same way as in end. The kernel drops a signal to a process namespace's first
// process unless that has a handler. A process that can't be signaled gets no grace.
func (p *program) signalInside(ctx context.Context, tag string, signals ...syscall.Signal) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepWait)
	defer cancel()
	pids, _ := p.suspects()
	for _, pid := range pids {
		if pid == p.process.Pid || pid == os.Getpid() || !tagged(ctx, pid, tag) {
			continue
		}
		if pidfd, err := signalTagged(ctx, pid, tag, signals...); err == nil {
			_ = unix.Close(pidfd)
		}
	}
}

func (p *program) signalGroup(signal syscall.Signal) {
	// The group may be gone, which is what the signal is for.
	_ = unix.Kill(-p.process.Pid, signal)
}

func (c Command) grace() time.Duration {
	if c.Grace == 0 {
		return DefaultGrace
	}
	return c.Grace
}
