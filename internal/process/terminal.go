package process

import (
	"errors"
	"fmt"
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Terminal asks for a pseudo-terminal of the program's own as its standard streams. What the
// program prints there all goes to Stdout.
type Terminal struct {
	// Size is what it begins with, Resize (which may be nil) what it gets later.
	Size   TerminalSize
	Resize <-chan TerminalSize
}

// TerminalSize is in characters.
type TerminalSize struct{ Rows, Columns uint16 }

// openTerminal makes the terminal both what the program reads and what it prints to.
func (s *streams) openTerminal(c Command) error {
	opened, theirs, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	s.release = append(s.release, opened, theirs)
	ours, err := pollable(opened)
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	s.child = [3]*os.File{theirs, theirs, theirs}
	s.outputs = append(s.outputs, &output{pipe: ours, to: c.Stdout, sink: s.sink})
	s.terminal, s.resize = ours, c.Terminal.Resize
	if s.input != nil {
		s.feed = terminalInput{ours}
	}
	return s.setSize(c.Terminal.Size)
}

// pollable is the same open file, whose reads have deadlines. A read that blocks in the kernel may never return: once in
// some thousand times the end of a terminal's last program is not told to who reads at the other side.
func pollable(blocking *os.File) (*os.File, error) {
	raw, err := blocking.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	err = raw.Control(func(original uintptr) {
		if fd, dupErr = unix.FcntlInt(original, unix.F_DUPFD_CLOEXEC, 0); dupErr == nil {
			dupErr = unix.SetNonblock(fd, true)
		}
	})
	if err := errors.Join(err, dupErr); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), blocking.Name()), nil
}

func (s *streams) setSize(size TerminalSize) error {
	if size == (TerminalSize{}) {
		return nil
	}
	raw, err := s.terminal.SyscallConn()
	if err == nil {
		var setErr error
		err = raw.Control(func(fd uintptr) {
			setErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Columns})
		})
		err = errors.Join(err, setErr)
	}
	if err != nil {
		return fmt.Errorf("set size of terminal: %w", err)
	}
	return nil
}

// followSize passes sizes on until the streams are closed. A terminal that is gone has none.
func (s *streams) followSize() {
	for {
		select {
		case size, open := <-s.resize:
			if !open {
				return
			}
			_ = s.setSize(size)
		case <-s.closed:
			return
		}
	}
}

// terminalInput is the terminal as somewhere to write to: the end of input does not close it,
// but is typed, as a person would.
type terminalInput struct{ *os.File }

// Close implements io.Closer.
func (t terminalInput) Close() error {
	_, err := t.Write([]byte{endOfTransmission})
	return err
}

const endOfTransmission = 4 // Ctrl-D
