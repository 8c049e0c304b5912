// Package execserver owns how commands get into a container that is already
// running: a small server inside, started as the container's first process, and
// a client outside that implements process.Executor over a unix socket. It
// refuses to trust the inside: whatever the client reads is bounded, checked,
// and comes from the container's first process or is not read at all.
package execserver

import (
	"errors"
	"time"

	"signalbox/internal/process"
)

// Name is the name under which the program is started as the server.
const Name = "signalbox-exec-server"

// Socket is the server's socket in its folder.
const Socket = "exec.sock"

// Version is that of the protocol. A server of another one is replaced.
const Version = "2"

var (
	// ErrUnavailable: no trusted server answers. Nothing was started; the command can be repeated once the container was started again.
	ErrUnavailable = errors.New("the container's exec server does not answer")
	// ErrLost: the server went away, or stopped making sense, after it was given a command. What
	// became of the command is not known; with the server everything inside is ended.
	ErrLost = errors.New("the container's exec server was lost")
	// ErrStale: the container shows another folder than is there now, or one that is gone. Nothing was started; the
	// container has to be started again.
	ErrStale = errors.New("the container shows a folder that was replaced")
)

// Mount is a place inside and the identity of what the host means to be there.
type Mount struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// order is a process.Command on its way inside. Without Args it asks only whether it would be run.
type order struct {
	Version string   `json:"version"`
	Mounts  []Mount  `json:"mounts,omitempty"`
	Args    []string `json:"args"`
	Dir     string   `json:"dir"`
	Env     []string `json:"env"`
	Input   bool     `json:"input"`  // there is a standard input
	Out     bool     `json:"out"`    // the client reads standard output
	Err     bool     `json:"err"`    // the client reads standard error
	Merged  bool     `json:"merged"` // both go to one Writer, in order
	// Terminal is the size of the program's terminal, nil when it gets none.
	Terminal *process.TerminalSize `json:"terminal,omitempty"`
	Idle     time.Duration         `json:"idle"`
	Total    time.Duration         `json:"total"`
	Grace    time.Duration         `json:"grace"`
	Limit    int64                 `json:"limit"`
	// Reaches are addresses inside, each led to the socket in ReachFolder that is named after it.
	Reaches []string `json:"reaches,omitempty"`
}

// ReachFolder is where the container shows the sockets through which commands reach addresses of
// the host.
const ReachFolder = "/run/signalbox-egress"

// failure says why nothing was started.
type failure struct {
	Stale   bool   `json:"stale"` // see ErrStale
	Message string `json:"message"`
}

// end is a process.Result on its way outside, and what went wrong although there is one.
type end struct {
	ExitCode  int            `json:"exit_code"`
	Signal    string         `json:"signal"`
	Ending    process.Ending `json:"ending"`
	Duration  time.Duration  `json:"duration"`
	Truncated bool           `json:"truncated"`
	CPU       time.Duration  `json:"cpu"`
	MaxRSS    int64          `json:"max_rss"`
	Problem   string         `json:"problem,omitempty"`
}
