package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotFound: there is no such program in the PATH of Command.Env.
var ErrNotFound = errors.New("program not found in PATH")

// program is a started command: the leader of its own session and process group.
type program struct {
	process *os.Process
	started time.Time
	// exited is closed when the leader is dead and not yet reaped; waitErr and took are set before.
	exited  chan struct{}
	waitErr error
	took    time.Duration
	state   *os.ProcessState
	// group is its control group, nil without limits; starved: the OOM killer struck in it.
	group   *group
	starved bool
}

// start starts c with its standard streams connected to s.
func start(c Command, s *streams, tag string) (*program, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("start program: no arguments")
	}
	path, err := lookPath(c.Args[0], c.Env)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	attr := &os.ProcAttr{
		Dir: c.Dir,
		// Clipped, so that the caller's slice is never written to.
		Env:   append(c.Env[:len(c.Env):len(c.Env)], tag),
		Files: append(s.child[:], c.Files...),
		// A session of its own has its own group and no terminal: a program that asks for a password
		// fails at once. In a background group the kernel would stop it, and it would hang.
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal != nil, Pdeathsig: syscall.SIGKILL},
	}
	p := &program{exited: make(chan struct{})}
	if p.group, err = newGroup(c.Limits, tag); err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Args[0], err)
	}
	startErr := make(chan error)
	go p.lead(path, c, attr, startErr)
	if err := <-startErr; err != nil {
		return nil, errors.Join(fmt.Errorf("start %q in %q: %w", c.Args[0], c.Dir, err), p.group.remove())
	}
	s.pump()
	return p, nil
}

// lead starts the program and sees its end on one thread: the kernel ties Pdeathsig to the thread
// that started the child, not to the process.
func (p *program) lead(path string, c Command, attr *os.ProcAttr, startErr chan<- error) {
	runtime.LockOSThread()
	if p.group == nil && c.Network == nil && !c.Fresh {
		defer runtime.UnlockOSThread()
	} // else the thread is no longer like the others, and ends with this function
	p.started = time.Now()
	err := p.startIn(path, c, attr)
	startErr <- err
	if err != nil {
		return
	}
	for p.waitErr = unix.EINTR; errors.Is(p.waitErr, unix.EINTR); { // end reaps the dead child
		p.waitErr = unix.Waitid(unix.P_PID, p.process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	p.took = time.Since(p.started)
	close(p.exited)
}

// startIn starts the program in a network namespace and in its control group: a child inherits
// both from the thread that starts it, and so runs no instruction outside of either.
func (p *program) startIn(path string, c Command, attr *os.ProcAttr) (err error) {
	// The child would also inherit the blocked signals of this thread, and we may have been started with some.
	var none, before unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &before); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	defer func() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) }() // it worked a moment ago
	if c.Network != nil {
		if err := unix.Setns(int(c.Network.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
	}
	if c.Fresh {
		if err := freshen(); err != nil {
			return err
		}
	}
	if err := p.group.enter(attr.Sys); err != nil {
		return err
	}
	p.process, err = os.StartProcess(path, c.Args, attr)
	p.group.leave()
	return err
}

func (p *program) result() Result {
	r := Result{ExitCode: -1, Started: p.started}
	if p.state == nil {
		r.Duration = time.Since(p.started)
		return r
	}
	r.Duration = p.took
	r.ExitCode = p.state.ExitCode()
	r.CPU = p.state.UserTime() + p.state.SystemTime()
	if status, ok := p.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.Signal = unix.SignalName(status.Signal())
	}
	if usage, ok := p.state.SysUsage().(*syscall.Rusage); ok {
		// The kernel counts in KiB.
		r.MaxRSS = usage.Maxrss * 1024
	}
	return r
}

// lookPath finds name as the child would. It skips entries of PATH that aren't absolute: they would start programs from
// the working directory, which is untrusted. Of several PATHs the first counts, as with getenv.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	i := slices.IndexFunc(env, func(variable string) bool { return strings.HasPrefix(variable, "PATH=") })
	if i < 0 {
		return "", ErrNotFound
	}
	for _, dir := range filepath.SplitList(strings.TrimPrefix(env[i], "PATH=")) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(dir) {
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", ErrNotFound
}
