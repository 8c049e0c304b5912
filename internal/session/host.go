package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// HostName is the name (the last part of the zeroth argument) under which this program is to call Host.
const HostName = "signalbox-session"

// Entrance makes what runs commands in a place. The place is untrusted words of Config.Place.
type Entrance func(ctx context.Context, place string) (process.Executor, error)

// HostConfig is what a host cannot be told by who starts it.
type HostConfig struct {
	// Entrance leads to places; nil knows none but this machine.
	Entrance Entrance
	Clock    func() time.Time
}

// host is one session, in a process of its own.
type host struct {
	order order
	dir   string
	doc   *store.Document[Info]
	clock func() time.Time
	log   *slog.Logger
	token string

	mu   sync.Mutex // held while info is changed and saved
	info Info
	// ending is why we end the agent; empty as long as we do not.
	ending Source
	cancel context.CancelFunc

	redactor *redact.Redactor
	// raw is for who attaches, and clean, without secrets, for who watches.
	raw, clean audience
	record     *record
	redacting  io.WriteCloser // to record, clean and detector

	detecting sync.Mutex
	detector  *Detector
	settling  bool // a Settle is due

	input   *input
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

func hostSession(ctx context.Context, args []string, c HostConfig) error {
	if len(args) != 2 || filepath.Base(args[1]) != args[1] {
		return errors.New("started by hand; it is a part of signalbox")
	}
	if err := settleIn(args[0]); err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", args[1])
	if err != nil {
		return fmt.Errorf("ask for the order: %w", err)
	}
	defer func() { _ = conn.Close() }()
	starter := &frames{to: conn}
	h, err := newHost(ctx, conn, args[0], c)
	if err == nil {
		err = h.hold(ctx, c, starter)
	}
	if err != nil {
		return errors.Join(err, starter.sendJSON(frameProblem, problemOf(err)))
	}
	return nil
}

// settleIn makes the process one that nothing ties to who started it.
func settleIn(dir string) error {
	unix.Umask(0o077)
	debug.SetGCPercent(hostGC)
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("enter folder of session: %w", err)
	}
	log, err := os.OpenFile(logFile, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, privateFile)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer func() { _ = log.Close() }()
	if err := unix.Dup3(int(log.Fd()), 2, 0); err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	return closeInherited()
}

// hostGC is the garbage, in percent of what is in use, that a host lets pile up: there are many
// of them and each has little to do.
const hostGC = 25

// closeInherited closes what a careless parent left open. Ours are all closed on exec.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list descriptors: %w", err)
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	}
	return nil
}

// orderLimit bounds the time in which the starter has to speak.
const orderLimit = 10 * time.Second

func newHost(ctx context.Context, conn net.Conn, dir string, c HostConfig) (*host, error) {
	if err := errors.Join(checkPeer(conn), conn.SetDeadline(c.Clock().Add(orderLimit))); err != nil {
		return nil, fmt.Errorf("ask for the order: %w", err)
	}
	kind, payload, err := readFrame(conn, maxOrder)
	if err == nil && kind != frameOrder {
		err = errFrame
	}
	h := &host{dir: dir, clock: c.Clock, log: slog.New(slog.NewTextHandler(os.Stderr, nil)), token: rand.Text(),
		input: newInput(), resize: make(chan process.TerminalSize, 1), ended: make(chan struct{})}
	if err == nil {
		err = json.Unmarshal(payload, &h.order)
	}
	if err != nil {
		return nil, fmt.Errorf("ask for the order: %w", err)
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

// hold takes the session's lock and holds the session.
func (h *host) hold(ctx context.Context, c HostConfig, starter *frames) error {
	lock, err := takeLock(ctx, lockFile)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	h.redactor = redact.New(secretsWith(h.order.Config.Secrets, h.token))
	st, err := store.Open(ctx, store.Config{Root: h.order.Root, AllowNetworkFS: h.order.AllowNetworkFS, Redact: h.redactor.String, Clock: h.clock})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	h.doc = store.Session[Info](st, h.order.Config.name())
	if err := buryPredecessor(ctx, h.doc); err != nil {
		return err
	}
	exec := process.Executor(process.Host{})
	if place := h.order.Config.Place; place != "" {
		if c.Entrance == nil {
			return fmt.Errorf("enter %q: there is no way to it", place)
		}
		if exec, err = c.Entrance(ctx, place); err != nil {
			return fmt.Errorf("enter %q: %w", place, err)
		}
	}
	ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	return h.begin(ctx, exec, starter)
}

func secretsWith(secrets map[string]string, token string) map[string]string {
	all := map[string]string{TokenVariable: token}
	for name, value := range secrets {
		all[name] = value
	}
	return all
}

// buryPredecessor ends what a killed host of the same name left.
func buryPredecessor(ctx context.Context, doc *store.Document[Info]) error {
	before, err := doc.Load(ctx)
	if errors.Is(err, os.ErrNotExist) || err == nil && (before.EndedAt != nil || before.ID == "") {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = process.Sweep(ctx, before.tag())
	return err
}

// startGrace is how long a start may go wrong after it was ordered, and still be told to who
// ordered it. What takes longer is in the document.
const startGrace = 100 * time.Millisecond

// begin opens all doors, starts the agent and stays until its end.
func (h *host) begin(ctx context.Context, exec process.Executor, starter *frames) (err error) {
	c := h.order.Config
	if h.record, err = newRecord(".", c.RecordLimit); err != nil {
		return err
	}
	size := c.size()
	h.detector = NewDetector(DetectorConfig{Issue: c.Issue, Prompt: c.Prompt, Rows: int(size.Rows), Columns: int(size.Columns),
		Say: func(w Word) { h.hear(ctx, w, Marked) }})
	h.redacting = h.redactor.Writer(writerFunc(h.keep))
	digest := sha256.Sum256([]byte(h.token))
	h.info = Info{Version: documentVersion, Issue: c.Issue, Name: c.name(), Agent: c.Agent, Mode: c.Mode, TmuxSocket: c.TmuxSocket, ID: rand.Text(),
		TokenDigest: hex.EncodeToString(digest[:]), HostPID: os.Getpid(), HostStart: startOfSelf(), StartedAt: h.clock().UTC()}
	if err := h.save(ctx, func(*Info) {}); err != nil {
		return err
	}
	stop, err := h.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	h.obey(ctx)
	if c.Mode == Tmux {
		leave, err := h.showInPane(ctx)
		if err != nil {
			return err
		}
		defer leave()
	}
	var answered sync.WaitGroup
	answered.Go(func() { h.answerStarter(starter) })
	result, err := exec.Exec(ctx, h.command())
	h.finish(context.WithoutCancel(ctx), result, err)
	answered.Wait()
	return nil
}

func (h *host) answerStarter(starter *frames) {
	select {
	case <-h.ended:
	case <-time.After(startGrace):
	}
	h.mu.Lock()
	info := h.info
	h.mu.Unlock()
	_ = starter.sendJSON(frameInfo, info) // who may be gone
}

// obey ends the session at a signal. Where a window hangs up the session is lost with it; without
// one there is nothing to hang up.
func (h *host) obey(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for {
			select {
			case s := <-signals:
				if s == syscall.SIGTERM {
					h.end(Stopped)
				} else if h.order.Config.Mode == Tmux {
					h.end(Gone)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
}

// end ends the agent; the first reason counts.
func (h *host) end(why Source) {
	h.mu.Lock()
	if h.ending == "" {
		h.ending = why
	}
	h.mu.Unlock()
	h.cancel()
}

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

func startOfSelf() uint64 {
	stat, _ := os.ReadFile("/proc/self/stat")
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const start = 22 - 3 // field 22, counted from the third
	if len(fields) <= start {
		return 0
	}
	ticks, _ := strconv.ParseUint(fields[start], 10, 64)
	return ticks
}
