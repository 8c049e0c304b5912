package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Handover passes the listeners that Enter makes inside to the proxy outside. The socket between
// them is closed before the program starts, so the program can't send anything through it.
type Handover struct {
	// Inside is the end that Enter gets as an open file.
	Inside *os.File
	ours   *net.UnixConn
}

// NewHandover returns a handover for one program.
func NewHandover() (*Handover, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket pair: %w", err)
	}
	h := &Handover{Inside: os.NewFile(uintptr(pair[1]), "handover")}
	ours := os.NewFile(uintptr(pair[0]), "handover")
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("make socket pair: %w", err), h.Inside.Close())
	}
	h.ours = conn.(*net.UnixConn)
	return h, nil
}

// Listeners waits for this many listeners; Close ends the wait.
func (h *Handover) Listeners(count int) (listeners []net.Listener, err error) {
	data, control := make([]byte, maxComplaint), make([]byte, unix.CmsgSpace(4*maxListeners))
	said, n, _, _, err := h.ours.ReadMsgUnix(data, control)
	if err != nil {
		return nil, fmt.Errorf("receive listeners: %w", err)
	}
	if said > 0 && n == 0 {
		return nil, errors.New(string(data[:said]))
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	for _, m := range messages {
		rights, e := unix.ParseUnixRights(&m)
		err = errors.Join(err, e)
		for _, fd := range rights {
			unix.CloseOnExec(fd)
			file := os.NewFile(uintptr(fd), "listener")
			l, e := net.FileListener(file)
			if err = errors.Join(err, e, file.Close()); e == nil {
				listeners = append(listeners, l)
			}
		}
	}
	if err == nil && len(listeners) != count {
		err = fmt.Errorf("want %d, got %d", count, len(listeners))
	}
	if err != nil {
		closeAll(listeners)
		return nil, fmt.Errorf("receive listeners: %w", err)
	}
	return listeners, nil
}

const (
	maxListeners = 200
	maxComplaint = 4 << 10 // bytes
)

// Complaint returns why Enter couldn't listen or start the program, nil if it could. Call it when the
// program has ended. It closes Inside.
func (h *Handover) Complaint() error {
	_ = h.Inside.Close() // otherwise Read would wait for its end
	data := make([]byte, maxComplaint)
	n, err := h.ours.Read(data)
	if n == 0 || errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read whether the program started: %w", err)
	}
	return errors.New(string(data[:n]))
}

// Close closes both ends.
func (h *Handover) Close() error {
	_ = h.Inside.Close()
	return h.ours.Close()
}
