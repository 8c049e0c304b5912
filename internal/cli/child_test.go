package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
)

// child is a running signalbox, leader of a process group.
type child struct {
	p    *project
	cmd  *exec.Cmd
	out  *transcript
	code int
	// ended is closed when it is reaped, done when what it printed is read as well.
	ended, done chan struct{}
	// request is its number, where the test needs it.
	request int
}

// transcript is what a child printed so far.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *transcript) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (p *project) start(args ...string) *child { return p.startWith(nil, args...) }

// ada is who commits where a HOME of the test's own tells no name.
var ada = []string{"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost"}

// startWith starts signalbox with further variables.
func (p *project) startWith(env []string, args ...string) *child {
	p.Helper()
	return p.startUnder(nil, env, args...)
}

// startUnder has another program, whose last argument is to be a command, start it.
func (p *project) startUnder(other, env []string, args ...string) *child {
	p.Helper()
	args = slices.Concat(other, []string{program(p)}, args)
	c := &child{p: p, cmd: exec.Command(args[0], args[1:]...), out: &transcript{}, ended: make(chan struct{}), done: make(chan struct{}), code: -1}
	read, write, err := os.Pipe() // of our own: Wait must not wait for whoever inherited it
	if err != nil {
		p.Fatal(err)
	}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = p.dir, write, write
	if env != nil {
		c.cmd.Env = append(os.Environ(), env...)
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go c.lead(started)
	if err := <-started; err != nil {
		p.Fatal(err)
	}
	_ = write.Close()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(c.out, read)
		_ = read.Close()
	}()
	go func() {
		<-c.ended
		<-copied
		close(c.done)
	}()
	p.Cleanup(func() { c.signal(syscall.SIGKILL) })
	return c
}

// lead starts the program and sees its end on one thread: the kernel ties Pdeathsig to the thread that started the child, and
// threads end with goroutines that are locked to them.
func (c *child) lead(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.cmd.Wait()
	c.code = c.cmd.ProcessState.ExitCode()
	close(c.ended)
}

// signal sends to the whole process group. It sends nothing after the child was waited for, because the kernel may have
// given its id to another process.
func (c *child) signal(s syscall.Signal) {
	select {
	case <-c.ended:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, s)
	}
}

// patience is how long anything may take before it counts as hung.
const patience = 10 * time.Minute

// wait returns the exit code, -1 of a killed child.
func (c *child) wait() int {
	c.p.Helper()
	return c.waitFor(patience)
}

func (c *child) waitFor(patience time.Duration) int {
	c.p.Helper()
	select {
	case <-c.done:
		return c.code
	case <-time.After(patience):
		c.signal(syscall.SIGQUIT) // prints where every goroutine is
		<-c.done
		c.p.Fatalf("%v does not end:\n%s", c.cmd.Args[1:], c.out)
		return -1
	}
}

// until waits until what the project's folders show fulfils the condition, and reports whether it
// did before the child ended.
func (c *child) until(condition func() bool) bool {
	c.p.Helper()
	defer func() {
		if c.p.Failed() {
			c.p.Logf("%s", c.out)
		}
	}()
	return until(c.p, c.p.dir, c.done, condition)
}
