package session

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"

	"golang.org/x/sys/unix"
)

// HostName is the name (the last part of the zeroth argument) under which this program is to call Host.
const HostName = "signalbox-session"

// Entrance makes what runs commands in a place. The place is untrusted words of Config.Place. leave is
// called when the agent's whole tree is gone, before anybody is told of it.
type Entrance func(ctx context.Context, place string) (exec process.Executor, leave func() error, err error)

// Publish writes down outside of the session where it stands: that it runs, while Outcome is nil, or
// what it came to. It may be called again with the same.
type Publish func(ctx context.Context, st *store.Store, info Info) error

// HostConfig is what a host cannot be told by who starts it.
type HostConfig struct {
	// Entrance leads to places; nil knows none but this machine.
	Entrance Entrance
	// Publish may be nil. The host calls it, because nobody else is sure to be there at the end.
	Publish Publish
	Clock   func() time.Time
}

// host is one session, in a process of its own.
type host struct {
	order order
	dir   string
	doc   *store.Document[Info]
	store *store.Store
	clock func() time.Time
	log   *slog.Logger
	// publish is never nil; published is what it was told last.
	publish   Publish
	published *Outcome
	token     string

	mu   sync.Mutex // held while info is changed and saved
	info Info
	// ending is why we end the agent; empty as long as we do not.
	ending Source
	cancel context.CancelFunc
	// answers takes the answer to info.Question, which is nil with it.
	answers chan<- json.RawMessage

	redactor *redact.Redactor
	// raw is for who attaches, and clean, without secrets, for who watches.
	raw, clean audience
	record     *record
	redacting  io.WriteCloser // to recording, detector and telling
	// recording and telling are the ways to record and clean, on which secretCode, if there is one, hides
	// Config.Code.
	recording, telling io.WriteCloser
	secretCode         *redact.Redactor

	detecting sync.Mutex
	detector  *terminal.Detector
	size      process.TerminalSize
	settling  bool // a settle is due
	// standing is what watchers are told where the agent draws; nil as long as it does not. Text keeps it.
	standing *standing
	text     *record
	undrawn  int64 // how much was recorded before it drew

	input   *process.Queue // what is typed into the agent's terminal
	resize  chan process.TerminalSize
	nudging sync.Mutex
	// refusals counts reports that were not this session's.
	refusals atomic.Int64
	ended    chan struct{} // closed when all is said
	clients  sync.WaitGroup
}

// Host holds one session until its agent's end, and returns an exit code. Its arguments are the
// session's folder and the name of a socket in it from which it is told what to do. Everything of
// the process is its own: working directory, signals, descriptors, memory limits.
func Host(ctx context.Context, args []string, c HostConfig) int {
	if err := hostSession(ctx, args, c); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", HostName, err)
		return 1
	}
	return 0
}

// hostGC is the garbage, in percent of what is in use, that a host lets pile up: there are many
// of them and each has little to do.
const hostGC = 25

func hostSession(ctx context.Context, args []string, c HostConfig) error {
	if len(args) != 2 || filepath.Base(args[1]) != args[1] {
		return errors.New("started by hand; it is a part of signalbox")
	}
	// Make the process one that nothing ties to who started it.
	unix.Umask(0o077)
	debug.SetGCPercent(hostGC)
	if err := os.Chdir(args[0]); err != nil {
		return fmt.Errorf("enter folder of session: %w", err)
	}
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, privateFile)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	if err := errors.Join(unix.Dup3(int(log.Fd()), 2, 0), log.Close()); err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", args[1])
	if err != nil {
		return fmt.Errorf("ask for the order: %w", err)
	}
	defer func() { _ = conn.Close() }()
	starter := &frames{to: conn}
	h, err := newHost(ctx, conn, args[0], c)
	if err == nil {
		err = h.hold(context.WithValue(ctx, hostKey{}, h), c, starter)
	}
	if err != nil {
		return errors.Join(err, starter.sendJSON(frameProblem, problemOf(err)))
	}
	return nil
}

// orderLimit bounds the time in which the starter has to speak.
const orderLimit = 10 * time.Second

func newHost(ctx context.Context, conn net.Conn, dir string, c HostConfig) (*host, error) {
	if err := errors.Join(checkPeer(conn), conn.SetReadDeadline(c.Clock().Add(orderLimit))); err != nil {
		return nil, fmt.Errorf("ask for the order: %w", err)
	}
	kind, payload, err := readFrame(conn, maxOrder)
	_ = conn.SetReadDeadline(time.Time{}) // else every host wakes once more when it has long been idle
	if err == nil && kind != frameOrder {
		err = errFrame
	}
	h := &host{dir: dir, clock: c.Clock, publish: c.Publish, log: slog.New(slog.NewTextHandler(os.Stderr, nil)), token: rand.Text(),
		raw: newTerminals(), clean: audience{clock: c.Clock, before: terminal.NewModes()}, input: process.NewQueue(inputLimit), resize: make(chan process.TerminalSize, 1), ended: make(chan struct{})}
	if err == nil {
		err = json.Unmarshal(payload, &h.order)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the order: %w", err)
	}
	if h.publish == nil {
		h.publish = func(context.Context, *store.Store, Info) error { return nil }
	}
	os.Clearenv()
	for _, assignment := range h.order.Environ {
		name, value, _ := strings.Cut(assignment, "=")
		_ = os.Setenv(name, value)
	}
	return h, h.order.Config.validate()
}

// maxOrder leaves room for a long prompt.
const maxOrder = 16 << 20
