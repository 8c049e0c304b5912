package sessions

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"signalbox/internal/agent"
	"signalbox/internal/config"
	"signalbox/internal/problem"
	"signalbox/internal/session"
	"signalbox/internal/wire"
	"signalbox/internal/wire/folder"
)

// A session that can't start is refused before an environment is made for it.

// check refuses wrong options.
func (h *Start) check() error {
	if err := session.CheckTmuxSocket(h.TmuxSocket); err != nil {
		return &problem.Error{Err: fmt.Errorf("--tmux-socket: %w", err), Code: problem.Usage, Hint: "it is the server's name, as in tmux -L NAME"}
	}
	return nil
}

// agentThere refuses an agent whose program can't run here, or can't reach its model. A container's programs are in its image, so they
// are not checked.
func (s *Sessions) agentThere(name string, c config.Agent) error {
	v, known := wire.VendorOf(c.Driver)
	program := c.Program
	switch {
	case known && program == "":
		program = v.Driver
	case c.Driver == config.DriverCommand && strings.Contains(c.Command[0], "/"):
		program = c.Command[0]
	case !known: // replay is our own program, and a setup may install others
		return nil
	}
	if known {
		if err := s.MayCallBy(name, v, c); err != nil {
			return err
		}
	}
	if s.Config.Environment.Driver == config.DriverContainer {
		return nil
	}
	if strings.Contains(program, "/") {
		program = folder.Within(s.Root, program)
	}
	path, err := agent.Program{Agent: name, Args: []string{program}, Env: c.Env}.Find()
	if err == nil {
		err = interpreted(path)
	}
	if err == nil {
		return nil
	}
	hint := "name a program that can be run, or an agent of the configuration; signalbox agents shows what is here"
	if known {
		hint = "install it: " + v.Install + "; or fix agents." + name + " in " + config.Name
	}
	return &problem.Error{Err: fmt.Errorf("start agent %q: %w", name, err), Code: problem.Usage, Hint: hint}
}

// interpreted refuses a script whose first line names a missing program.
func interpreted(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // an executable that we can't read is no script
	}
	defer func() { _ = f.Close() }()
	const longest = 256 // the kernel reads no more
	line, _ := bufio.NewReader(io.LimitReader(f, longest)).ReadString('\n')
	named, script := strings.CutPrefix(line, "#!")
	words := strings.Fields(named)
	if !script || len(words) == 0 {
		return nil
	}
	if _, err := os.Stat(words[0]); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("its first line names %s, which is not there", words[0])
	}
	return nil
}
