package process

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Detached is a program that outlives the process that started it.
type Detached struct {
	PID int
	// Ended is closed when it has ended.
	Ended chan struct{}
	code  int
	said  *os.File
}

// maxSaid is how much of what a detached program printed is read, in bytes.
const maxSaid = 16 << 10

// Detach starts a program in a session of its own. It gets no input; its standard error goes to a file without a name, since a
// pipe would kill it once its reader is gone.
func Detach(program, dir string, args []string) (*Detached, error) {
	said, err := os.CreateTemp("", "signalbox-detached-")
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", program, err)
	}
	_ = os.Remove(said.Name())
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		_ = said.Close()
		return nil, fmt.Errorf("start %q: %w", program, err)
	}
	defer func() { _ = null.Close() }()
	p, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Dir: dir, Env: Unmarked(os.Environ()),
		Files: []*os.File{null, null, said}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		_ = said.Close()
		return nil, fmt.Errorf("start %q: %w", program, err)
	}
	d := &Detached{PID: p.Pid, Ended: make(chan struct{}), said: said}
	go func() {
		if state, err := p.Wait(); err == nil {
			d.code = state.ExitCode()
		}
		close(d.Ended)
	}()
	return d, nil
}

// ExitCode is valid once it has ended; -1 if a signal killed it.
func (d *Detached) ExitCode() int { return d.code }

// Said returns the end of what it printed to standard error so far.
func (d *Detached) Said() string {
	info, err := d.said.Stat()
	if err != nil {
		return ""
	}
	data := make([]byte, min(info.Size(), maxSaid))
	n, _ := d.said.ReadAt(data, info.Size()-int64(len(data)))
	return string(data[:n])
}

// Forget stops reading what it prints. It goes on.
func (d *Detached) Forget() { _ = d.said.Close() }

// Unmarked returns an environment without the marks of a child of ours: a program that outlives its starter isn't swept with it.
func Unmarked(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(assignment string) bool {
		return strings.HasPrefix(assignment, "SIGNALBOX_PROCESS=") || strings.HasPrefix(assignment, "SIGNALBOX_SESSION_")
	})
}
