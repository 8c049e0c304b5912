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

// HostName is the name (the last part of the zeroth argument) under which this program must call Host.
const HostName = "signalbox-session"

// Entrance makes an Executor for a place. The place is Config.Place, which is untrusted. leave is called when
// the agent's whole tree has ended, before that is published.
type Entrance func(ctx context.Context, place string) (exec process.Executor, leave func() error, err error)

// Publish records the session's state outside of it: that it runs, while Outcome is nil, or its outcome. It may
// be called again with the same state.
type Publish func(ctx context.Context, st *store.Store, info Info) error

// HostConfig is the part of a host's configuration that its starter can't send.
type HostConfig struct {
	// Entrance enters places; nil allows only this machine.
	Entrance Entrance
	// Publish may be nil. The host calls it, because only the host surely exists at the end.
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
	// publish is never nil; published is the outcome that it last got.
	publish   Publish
	published *Outcome
	token     string

	mu   sync.Mutex // held while info is changed and saved
	info Info
	// ending is why we end the agent; empty until we do.
	ending Source
	cancel context.CancelFunc
	// answers takes the answer to info.Question, which is nil with it.
	answers chan<- json.RawMessage

	redactor *redact.Redactor
	// raw is for attached terminals, and clean, without secrets, for watchers.
	raw, clean audience
	record     *record
	redacting  io.WriteCloser // to recording, detector and telling
	// recording and telling lead to record and clean; secretCode, if there is one, hides Config.Code there.
	recording, telling io.WriteCloser
	secretCode         *redact.Redactor

	detecting sync.Mutex
	detector  *terminal.Detector
	size      process.TerminalSize
	settling  bool // a settle is due
	// standing finds the lines for watchers if the agent draws; nil until it does. text records them.
	standing *standing
	text     *record
	undrawn  int64 // how much was recorded before the agent drew

	input   *process.Queue // to the agent's terminal
	resize  chan process.TerminalSize
	nudging sync.Mutex
	// refusals counts refused reports.
	refusals atomic.Int64
	ended    chan struct{} // closed when the end is saved
	clients  sync.WaitGroup
}

// Host holds one session until its agent's end, and returns an exit code. Its arguments are the session's
// folder and the name of a socket there that sends its order. It uses the whole process: working directory,
// signals, descriptors, memory limits.
func Host(ctx context.Context, args []string, c HostConfig) int {
	if err := hostSession(ctx, args, c); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", HostName, err)
		return 1
	}
	return 0
}

// hostGC is how much garbage a host lets pile up, in percent of the memory in use: there are many hosts and
// each has little to do.
const hostGC = 25

func hostSession(ctx context.Context, args []string, c HostConfig) error {
	if len(args) != 2 || filepath.Base(args[1]) != args[1] {
		return errors.New("started by hand; it is a part of signalbox")
	}
	// Cut the process's ties to its starter.
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

// orderLimit limits the wait for the starter's order.
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
