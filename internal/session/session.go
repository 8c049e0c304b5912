// Package session owns sessions: one agent's process for one issue, held by a small host process that
// owns its terminal, records its output, finds its outcome, and serves the people who attach or watch.
// It refuses to know why an agent runs, and what follows from its end.
package session

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"signalbox/internal/lazy"
	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
)

// Mode is what an agent's session is connected to.
type Mode string

const (
	// Headless is a pipe: the agent reads Config.Input to its end, and no one can type.
	Headless Mode = "headless"
	// Terminal is a pseudo-terminal that the host owns.
	Terminal Mode = "terminal"
	// Tmux is a Terminal whose host is the program of a tmux window. The session ends with the window.
	Tmux Mode = "tmux"
)

// Config is one session to start.
type Config struct {
	Issue int
	// Prefix is the first part of the session's name; empty is DefaultPrefix.
	Prefix string
	// Agent is its name in the configuration.
	Agent string
	Mode  Mode
	// Place is where the agent runs, as an Entrance understands it; empty is this machine as it is.
	Place string
	// Args, Dir and Env are as in process.Command. The session adds TokenVariable, SocketVariable and
	// idVariable to Env.
	Args []string
	Dir  string
	Env  []string
	// Input is the standard input of a headless agent.
	Input string
	// Prompt is everything that the agent was told and may echo, in Input or arguments.
	Prompt string
	// Code, if set, must follow a marker that the agent prints, or the marker doesn't count. It is for
	// agents whose interface shows files and other people's words like their own.
	Code string
	// Size is the terminal's until a person attaches; zero is 24 rows of 80 columns.
	Size process.TerminalSize
	// Secrets are values that must not be recorded, by their names.
	Secrets map[string]string
	// Reads, Writes and Reaches are as in process.Command.
	Reads, Writes, Reaches []string
	// Idle, Total and Grace are as in process.Command.
	Idle, Total, Grace time.Duration
	// RecordLimit is how many bytes of output to keep; zero is DefaultRecordLimit.
	RecordLimit int64
	// TmuxSocket is the name of tmux's server (its option -L); empty is the usual one.
	TmuxSocket string
}

// DefaultPrefix makes the name signalbox-issue-42.
const DefaultPrefix = "signalbox"

// DefaultRecordLimit keeps some hours of an agent's output.
const DefaultRecordLimit = 64 << 20

// Name returns the name of an issue's session.
func Name(prefix string, issue int) string {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	return prefix + "-issue-" + strconv.Itoa(issue)
}

func (c *Config) name() string { return Name(c.Prefix, c.Issue) }

func (c *Config) validate() error {
	_, err := store.SessionDir(c.name())
	switch {
	case err != nil:
		return err
	case c.Mode != Headless && c.Mode != Terminal && c.Mode != Tmux:
		return fmt.Errorf("mode %q is none of %q, %q and %q", c.Mode, Headless, Terminal, Tmux)
	case len(c.Args) == 0:
		return errors.New("it needs a program")
	case c.Mode != Headless && c.Input != "":
		return errors.New("a terminal has no input to read to its end")
	}
	return CheckTmuxSocket(c.TmuxSocket)
}

// CheckTmuxSocket returns what is wrong with a Config.TmuxSocket.
func CheckTmuxSocket(name string) error {
	if name != "" && !tmuxSocket().MatchString(name) {
		return fmt.Errorf("tmux's server %q: want letters, digits and hyphens", name)
	}
	return nil
}

var tmuxSocket = lazy.Pattern(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

var defaultSize = process.TerminalSize{Rows: 24, Columns: 80}

func (c *Config) size() process.TerminalSize {
	switch {
	case c.Mode == Headless:
		return process.TerminalSize{}
	case c.Size.Rows == 0 || c.Size.Columns == 0:
		return defaultSize
	}
	return c.Size
}

// Info is a session's state, and its document.
type Info struct {
	Version string `json:"version"`
	Issue   int    `json:"issue"`
	Name    string `json:"name"`
	Agent   string `json:"agent"`
	Mode    Mode   `json:"mode"`
	// TmuxSocket is as in Config.
	TmuxSocket string `json:"tmux_socket"`
	// ID is unique to this start of the session.
	ID string `json:"id"`
	// TokenDigest is the SHA-256 of the token with which the agent reports.
	TokenDigest string    `json:"token_digest"`
	HostPID     int       `json:"host_pid"`
	HostStart   uint64    `json:"host_start"` // clock ticks after boot
	StartedAt   time.Time `json:"started_at"`
	// Outcome is the first final status that the agent reported; nil while there is none.
	Outcome *Outcome `json:"outcome"`
	// EndedAt is when the agent's process had ended; nil while it may run.
	EndedAt *time.Time `json:"ended_at"`
	// ExitCode is the agent's, -1 if a signal ended it; nil while it runs or if no host saw its end.
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
	// Progress is the agent's latest progress report.
	Progress string `json:"progress"`
	// Question is the question that the agent waits with; nil if there is none.
	Question *Question `json:"question"`
	// Notes are later statuses, refused reports and other events that changed nothing.
	Notes []string `json:"notes"`
}

// Outcome is how a session turned out.
type Outcome struct {
	Kind    terminal.Kind `json:"kind"` // Complete or Error
	Message string        `json:"message"`
	Source  Source        `json:"source"`
	At      time.Time     `json:"at"`
}

// Source is how an outcome became known.
type Source string

const (
	Reported Source = "report" // by the agent, with the session's token
	Marked   Source = "marker" // by a marker that it printed
	Ended    Source = "end"    // its process ended without a final status
	Stopped  Source = "stop"   // a person stopped it
	Gone     Source = "gone"   // its host or its window was killed
)

// Unexpected is the message of a session that ended without a final status.
const Unexpected = "Session unexpectedly terminated"

var (
	// ErrRunning: a session of this name is running.
	ErrRunning = errors.New("the session is running")
	// ErrNotRunning: the session has ended.
	ErrNotRunning = errors.New("the session has ended")
	// ErrNotFound: there never was a session of this name.
	ErrNotFound = errors.New("there is no such session")
	// ErrNoTerminal: a headless session has nothing to type into.
	ErrNoTerminal = errors.New("the session has no terminal")
	// ErrBusy: the agent doesn't read its input.
	ErrBusy = errors.New("the agent does not take input")
	// ErrText: the text can't be typed.
	ErrText = errors.New("the text cannot be typed")
)

// documentVersion is Info.Version.
const documentVersion = "1.0"

// Files in a session's folder.
const (
	lockFile     = "host.lock"
	logFile      = "host.log"
	hostSocket   = "host.sock"
	startSocket  = "start.sock"
	reportFolder = "report" // shown to the agent
	reportSocket = "report.sock"
	privateMode  = 0o700
	privateFile  = 0o600
)

// The agent's own variables.
const (
	// TokenVariable holds the token that a report must present.
	TokenVariable = "SIGNALBOX_SESSION_TOKEN"
	// SocketVariable holds the path to report to, as the agent sees it.
	SocketVariable = "SIGNALBOX_SESSION_REPORT"
	// idVariable marks every process that the agent starts.
	idVariable = "SIGNALBOX_SESSION_ID"
)

func (i *Info) tag() string { return idVariable + "=" + i.ID }

// Sessions are the sessions of one project.
type Sessions struct {
	// Root is the project's folder, absolute.
	Root  string
	Store *store.Store
	Clock func() time.Time
	// Program is this program's file, which hosts sessions when it is called HostName; empty is the
	// running one.
	Program string
	// Publish publishes sessions whose host was killed, as HostConfig.Publish does the others; may be
	// nil.
	Publish Publish
	// Quiet is how long nothing is printed before a watcher gets an unfinished line; zero is 300 ms.
	Quiet time.Duration
	// AllowNetworkFS is as in store.Config, for the host's Store.
	AllowNetworkFS bool
}
