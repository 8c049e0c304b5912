package session

import (
	"path/filepath"
	"strings"

	"signalbox/internal/process"
)

// command is the agent's, in words of who runs it.
func (h *host) command() process.Command {
	c := h.order.Config
	report := filepath.Join(h.dir, reportFolder)
	command := process.Command{Args: c.Args, Dir: c.Dir, Reads: c.Reads, Writes: append(c.Writes[:len(c.Writes):len(c.Writes)], report),
		Reaches: c.Reaches, Idle: c.Idle, Total: c.Total, Grace: c.Grace, Stdout: writerFunc(h.print), Stderr: nil,
		Env: append(c.Env[:len(c.Env):len(c.Env)], TokenVariable+"="+h.token, SocketVariable+"="+filepath.Join(report, reportSocket), h.info.tag())}
	if command.Dir == "" && c.Place == "" {
		command.Dir = h.order.Root
	}
	if c.Mode == Headless {
		both := &printing{h}
		command.Stdout, command.Stderr = both, both
		if c.Input != "" {
			command.Stdin = strings.NewReader(c.Input)
		}
		return command
	}
	command.Stdin = h.input
	command.Terminal = &process.Terminal{Size: c.size(), Resize: h.resize}
	return command
}

// printing is h.print as a Writer that can be compared: both streams are one.
type printing struct{ h *host }

// Write implements io.Writer.
func (p *printing) Write(b []byte) (int, error) { return p.h.print(b) }

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
