package egress

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Handover passes the listeners that Enter makes inside out to the proxy. The socket between them is closed before the program starts, so the
// program can't send anything through it.
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
	files, err := received(control[:n])
	for _, file := range files {
		l, e := net.FileListener(file)
		if err = errors.Join(err, e, file.Close()); e == nil {
			listeners = append(listeners, l)
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
	maxComplaint = 4 << 10
)

// received extracts the descriptors from a message.
func received(control []byte) (files []*os.File, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		rights, err := unix.ParseUnixRights(&m)
		if err != nil {
			return files, err
		}
		for _, fd := range rights {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "listener"))
		}
	}
	return files, nil
}

// Complaint returns why Enter could not listen or not start the program; nil if it could. It is called when the program has ended, and closes
// Inside.
func (h *Handover) Complaint() error {
	_ = h.Inside.Close() // otherwise its end would not be seen
	data := make([]byte, maxComplaint)
	n, err := h.ours.Read(data)
	if n == 0 || errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("hear whether the program started: %w", err)
	}
	return errors.New(string(data[:n]))
}

// Close closes both ends.
func (h *Handover) Close() error {
	_ = h.Inside.Close()
	return h.ours.Close()
}
