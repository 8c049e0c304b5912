// Package process owns child processes: it starts, streams and limits one, and ends it with everything it started. It doesn't know why a program runs:
// agents, tests and git all arrive here as a Command.
package process

import (
	"context"
	"io"
	"os"
	"time"
)

// Command is one program to run. Args are a list; nothing here ever builds a
// shell string. An environment takes the same type, and may wrap the command in a
// sandbox before it gets here.
type Command struct {
	// Args is the program and its arguments; Args[0] is looked up in the PATH of Env.
	Args []string
	// Dir is the working directory; empty means the executor's own choice.
	Dir string
	// Env is the whole environment as KEY=value. Nothing is inherited: a nil Env is an empty one.
	// Nothing is corrected either: of a repeated name most programs see the first value. Run adds
	// one variable, SIGNALBOX_PROCESS, to find the tree again.
	Env []string
	// Stdin is read to its end; nil means /dev/null. (Some agents wait for the end of an inherited one.)
	Stdin io.Reader
	// Stdout and Stderr receive what the program prints, in its order; nil discards. The same
	// Writer may be given for both. Writers are called from one goroutine at a time.
	Stdout, Stderr io.Writer

	// Terminal, if set, replaces the pipes: a shell that a person types into needs one.
	Terminal *Terminal

	// Files are open files that the program gets as 3, 4 and so on. The caller closes them.
	Files []*os.File

	// Idle ends the tree when neither stream has printed for this long; zero means no limit.
	Idle time.Duration
	// Total ends the tree when it has run for this long; zero means no limit.
	Total time.Duration
	// Grace is the time between the polite signal (SIGTERM) and SIGKILL; zero means DefaultGrace.
	Grace time.Duration
	// OutputLimit is the number of bytes, both streams together, that are passed on. Later output
	// is read and dropped, so that the program never blocks, and Result.Truncated is set. Zero
	// means no limit.
	OutputLimit int64

	// Limits limit the whole tree, as far as control groups can be made here (see LimitsNote).
	Limits Limits
	// Network is a network namespace, opened, to start the program in; nil is our own.
	Network *os.File
	// Sandbox: the program's end ends everything in it at once. So the polite signal goes to the
	// processes in it and not to the program itself, and they get their grace.
	Sandbox bool
	// Fresh starts the program with a umask (022), a personality and a scheduling policy that don't
	// depend on our starter. Every command of an environment is fresh, and so is the git that checks
	// out its files; git in the project works like the user's.
	Fresh bool

	// Reads are host paths that the program must be able to read. An executor that hides the host
	// shows them read-only; plain Run ignores them.
	Reads []string
	// Writes are host paths that the program must be able to write, likewise.
	Writes []string
	// Reaches are addresses on this machine's loopback interface ("127.0.0.1:8080") that the program
	// must be able to connect to, under the same address. An executor that hides the network forwards
	// them; plain Run ignores them.
	Reaches []string
}

// DefaultGrace leaves an agent time to close its files, and a person who typed
// "stop" still sees the run end within a second.
const DefaultGrace = 500 * time.Millisecond

// Ending is why a process is no longer running.
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

// Result describes a program once its whole tree has ended.
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
