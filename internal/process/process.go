// Package process owns child processes: how one is started, streamed, limited and ended together with everything it started. It does not know why a
// program runs: agents, tests and git all arrive here as a Command.
package process

import (
	"context"
	"io"
	"os"
	"time"
)

// Command is one program to run. Args are a list; nothing here ever builds a
// shell string. The same words describe a command for an environment, which
// may wrap it in a sandbox before it gets here.
type Command struct {
	// Args is the program and its arguments; Args[0] is looked up in the PATH of Env.
	Args []string
	// Dir is the working directory; empty means the executor's own choice.
	Dir string
	// Env is the whole environment as KEY=value. Nothing is inherited: a nil Env is an empty one.
	// Nothing is corrected either: of a name given twice most programs see the first value. Run
	// adds one variable, SIGNALBOX_PROCESS, by which it finds the tree again.
	Env []string
	// Stdin is read to its end; nil means /dev/null. (Some agents wait for the end of an inherited one.)
	Stdin io.Reader
	// Stdout and Stderr receive what the program prints, in its order; nil discards. The same
	// Writer may be given for both. Writers are called from one goroutine at a time.
	Stdout, Stderr io.Writer

	// Terminal, if set, takes the place of the pipes: a shell that a person types into needs one.
	Terminal *Terminal

	// Files are open files that the program gets as 3, 4 and so on. They stay the caller's to close.
	Files []*os.File

	// Idle ends the tree when neither stream printed for this long; zero means no limit.
	Idle time.Duration
	// Total ends the tree when it ran for this long; zero means no limit.
	Total time.Duration
	// Grace is the time between the polite signal (SIGTERM) and SIGKILL; zero means DefaultGrace.
	Grace time.Duration
	// OutputLimit is the number of bytes, both streams together, that are passed on. What comes
	// after is read and dropped, so the program is never blocked, and Result.Truncated is set.
	// Zero means no limit.
	OutputLimit int64

	// Limits bound the whole tree, as far as control groups can be made here (see LimitsNote).
	Limits Limits
	// Network is a network namespace, opened, to start the program in; nil is our own.
	Network *os.File
	// Sandbox says that the program is one whose end is the end of all in it at once: the polite
	// signal goes to those in it and not to itself, so that they get their grace.
	Sandbox bool
	// Fresh starts the program with a umask (022), a personality and a scheduling policy that do not
	// depend on who started us. Every command of an environment is fresh, and the git that checks out its
	// files; git in the project works as its user's does.
	Fresh bool

	// Reads are host paths that the program must be able to read. An executor which hides the
	// host shows them read-only; plain Run ignores them.
	Reads []string
	// Writes are host paths that the program must be able to write, likewise.
	Writes []string
	// Reaches are addresses on this machine's loopback interface ("127.0.0.1:8080") that the program
	// must be able to connect to, under the same address. An executor which hides the network leads
	// them through; plain Run ignores them.
	Reaches []string
}

// DefaultGrace leaves an agent time to close its files, and a person who typed
// "stop" still sees the run end within a second.
const DefaultGrace = 500 * time.Millisecond

// Ending says why a process is no longer running.
type Ending string

const (
	// Exited: by itself, with an exit code or by a signal that Signalbox did not send.
	Exited Ending = "exited"
	// TimedOut: Command.Total passed.
	TimedOut Ending = "timeout"
	// Idled: nothing was printed for Command.Idle.
	Idled Ending = "idle"
	// Stopped: the context was canceled.
	Stopped Ending = "stopped"
	// NoMemory: the kernel's OOM killer ended it.
	NoMemory Ending = "memory"
)

// Result is what is known once the whole tree is gone.
type Result struct {
	// ExitCode is the program's own; -1 when a signal ended it (see Signal).
	ExitCode int
	// Signal is the name of the signal that ended it ("SIGKILL"), empty when it exited.
	Signal   string
	Ending   Ending
	Started  time.Time
	Duration time.Duration
	// Truncated: more than OutputLimit bytes were printed.
	Truncated bool
	// CPU is user plus system time, MaxRSS the peak resident memory in bytes, of the program and
	// of the children it waited for. The kernel starts to count MaxRSS from our own peak.
	CPU    time.Duration
	MaxRSS int64
}

// OK reports whether the program ended by itself with exit code 0.
func (r Result) OK() bool { return r.Ending == Exited && r.ExitCode == 0 }

// Executor runs commands somewhere: on this machine, in a sandbox, in a container.
type Executor interface {
	// Exec runs c to its end. A program that fails is a Result, not an error; an error
	// means that it could not be started or its end could not be seen.
	Exec(ctx context.Context, c Command) (Result, error)
}
