package session

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
)

// A frame is its kind, the length of its payload in four bytes, and the payload. Frames pass between the
// processes of one user on one machine, of one version of this program.
const (
	frameOrder   = 'O' // starter to host: an order
	frameRequest = 'Q' // client to host: a request, first
	frameInput   = 'i' // client to host: typed bytes
	frameSize    = 'z' // client to host: the terminal's size
	framePrinted = 'p' // host to an attached client: printed bytes
	frameRecord  = 'r' // host to a watcher: when the last byte was recorded, in nanoseconds since 1970 in eight bytes, and printed bytes
	frameLost    = 'l' // host to client: how many printed bytes it missed here
	frameInfo    = 's' // host to starter or client: Info
	frameProblem = 'e' // host to starter or client: a problem
)

const frameLimit = 1 << 20

var errFrame = errors.New("not understood")

// order is the starter's order to a host.
type order struct {
	Root           string
	AllowNetworkFS bool
	Config         Config
	Environ        []string
}

// request is a client's request.
type request struct {
	Op     string // attach, watch, nudge, answer or stop
	Text   string
	Size   process.TerminalSize
	Answer given
}

// given is an answer, and the id of its question.
type given struct {
	Question string
	Answer   json.RawMessage
}

const (
	opAttach = "attach"
	opWatch  = "watch"
	opNudge  = "nudge"
	opAnswer = "answer"
	opStop   = "stop"
)

// problem is an error on its way to another process.
type problem struct {
	Text string
	// Is is the number, from 1, of its sentinel; 0 for none.
	Is int
}

var sentinels = []error{ErrRunning, ErrNotRunning, ErrNoTerminal, ErrBusy, ErrText, ErrNotAsked}

func problemOf(err error) problem {
	p := problem{Text: err.Error()}
	for i, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			p.Is = i + 1
		}
	}
	return p
}

// distant is an error of another process.
type distant struct {
	text string
	is   error
}

func (d *distant) Error() string { return d.text }
func (d *distant) Unwrap() error { return d.is }

// frames writes frames whole, from several goroutines.
type frames struct {
	mu sync.Mutex
	to io.Writer
}

// send sends a frame whose payload is in parts, in one system call where possible: each call wakes the
// reader.
func (f *frames) send(kind byte, payload ...[]byte) error {
	length := 0
	for _, part := range payload {
		length += len(part)
	}
	whole := append(net.Buffers{binary.BigEndian.AppendUint32([]byte{kind}, uint32(length))}, payload...)
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := whole.WriteTo(f.to); err != nil {
		return fmt.Errorf("send frame: %w", err)
	}
	return nil
}

func (f *frames) sendJSON(kind byte, value any) error {
	payload, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("send frame: %w", err)
	}
	return f.send(kind, payload)
}

// readFrame reads a frame of at most limit bytes.
func readFrame(from io.Reader, limit uint32) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if length > limit {
		return 0, nil, fmt.Errorf("frame of %d bytes: %w", length, errFrame)
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(from, payload)
	return head[0], payload, err
}

// readInfo reads the answer to an order or a request.
func readInfo(conn net.Conn) (Info, error) {
	kind, payload, err := readFrame(conn, frameLimit)
	if err != nil {
		return Info{}, fmt.Errorf("hear from host: %w", err)
	}
	return infoOf(kind, payload)
}

func infoOf(kind byte, payload []byte) (info Info, err error) {
	switch kind {
	case frameInfo:
		err = json.Unmarshal(payload, &info)
	case frameProblem:
		var p problem
		if err = json.Unmarshal(payload, &p); err != nil {
			break
		}
		err = errors.New(p.Text)
		if 0 < p.Is && p.Is <= len(sentinels) {
			err = &distant{p.Text, sentinels[p.Is-1]}
		}
	default:
		err = errFrame
	}
	return info, err
}

// inFolder returns the path of a file in an open folder, which is short even if the folder is deep: the
// address of a socket has room for 107 bytes.
func inFolder(dir *os.File, name string) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), name)
}

var errOtherUser = errors.New("it belongs to another user")

// checkPeer refuses a peer of another user.
func checkPeer(conn net.Conn) error {
	socket, ok := conn.(*net.UnixConn)
	if !ok {
		return errOtherUser
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return fmt.Errorf("ask for the peer's user: %w", err)
	}
	var peer *unix.Ucred
	var errPeer error
	err = raw.Control(func(fd uintptr) { peer, errPeer = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err := errors.Join(err, errPeer); err != nil {
		return fmt.Errorf("ask for the peer's user: %w", err)
	}
	if int(peer.Uid) != os.Geteuid() {
		return errOtherUser
	}
	return nil
}
