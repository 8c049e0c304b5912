// Package execserver runs commands in a running container: a small server inside, started as the
// container's first process, and a client outside that implements process.Executor over a unix socket. It
// does not trust the inside: everything that the client reads is limited, checked, and accepted only from
// the container's first process.
package execserver

import (
	"errors"
	"time"

	"signalbox/internal/process"
)

// Name is the program name under which the server is started.
const Name = "signalbox-exec-server"

// Socket is the server's socket in its folder.
const Socket = "exec.sock"

// Version is the version of the protocol. A container whose server has another one is replaced.
const Version = "2"

var (
	// ErrUnavailable: no trusted server answers. Nothing was started; after a restart of the container, the
	// command can be repeated.
	ErrUnavailable = errors.New("the container's exec server does not answer")
	// ErrLost: the server disappeared, or broke the protocol, after it got a command. The command's outcome
	// is unknown; everything inside ends with the server.
	ErrLost = errors.New("the container's exec server was lost")
	// ErrStale: the container shows a folder that was replaced or deleted. Nothing was started; the
	// container must be restarted.
	ErrStale = errors.New("the container shows a folder that was replaced")
)

// Mount is a place inside and the identity of the folder that the host expects there.
type Mount struct {
	Path   string `json:"path"`
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// order is a process.Command on its way inside. Without Args it only asks whether the server would run one.
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
	// Terminal is the size of the program's terminal, or nil for none.
	Terminal *process.TerminalSize `json:"terminal,omitempty"`
	Idle     time.Duration         `json:"idle"`
	Total    time.Duration         `json:"total"`
	Grace    time.Duration         `json:"grace"`
	Limit    int64                 `json:"limit"`
	// Reaches are addresses inside; each is connected to the socket in ReachFolder named after it.
	Reaches []string `json:"reaches,omitempty"`
}

// ReachFolder is where the container shows the sockets that lead commands to addresses of the host.
const ReachFolder = "/run/signalbox-egress"

// failure says why nothing was started.
type failure struct {
	Stale   bool   `json:"stale"` // see ErrStale
	Message string `json:"message"`
}

// end is a process.Result on its way outside, with the error beside it, if any.
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
