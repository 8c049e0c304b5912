package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Terminal gives the program a pseudo-terminal as its standard streams. All its output goes to
// Stdout.
type Terminal struct {
	// Size is the first size; Resize (which may be nil) brings later ones.
	Size   TerminalSize
	Resize <-chan TerminalSize
}

// TerminalSize is in characters.
type TerminalSize struct{ Rows, Columns uint16 }

// openTerminal makes the terminal the program's input and output.
func (s *streams) openTerminal(c Command) error {
	ours, theirs, err := newTerminal()
	if err != nil {
		return fmt.Errorf("open terminal: %w", err)
	}
	s.release = append(s.release, theirs)
	s.child = [3]*os.File{theirs, theirs, theirs}
	s.outputs = append(s.outputs, &output{pipe: ours, to: c.Stdout, sink: s.sink})
	s.terminal, s.resize = ours, c.Terminal.Resize
	if s.input != nil {
		s.feed = terminalInput{ours}
	}
	return s.setSize(c.Terminal.Size)
}

// newTerminal opens a terminal: our side, whose reads have deadlines, and the program's, which the
// kernel opens from ours (TIOCGPTPEER, since Linux 4.13). Asked for by its number it might be another's:
// github.com/creack/pty hands the kernel an address that the Go runtime does not know of, and when the
// stack has moved meanwhile, once in some thousand times, it opens terminal 0 instead.
func newTerminal() (ours, theirs *os.File, err error) {
	if ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	var peer uintptr
	raw, err := ours.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) {
			if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
				return
			}
			var errno syscall.Errno
			if peer, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC); errno != 0 {
				failed = os.NewSyscallError("open the program's side", errno)
			}
		})
		err = errors.Join(err, failed)
	}
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close())
	}
	return ours, os.NewFile(peer, "terminal"), nil
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

// followSize passes sizes on until the streams are closed. A closed terminal has no size.
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

// terminalInput writes to the terminal. The end of input does not close the terminal, but is typed as Ctrl-D, as a person would.
type terminalInput struct{ *os.File }

// Close implements io.Closer.
func (t terminalInput) Close() error {
	_, err := t.Write([]byte{endOfTransmission})
	return err
}

const endOfTransmission = 4 // Ctrl-D
