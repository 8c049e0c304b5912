package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
)

// hold takes the session's lock, enters the agent's place and holds the session.
func (h *host) hold(ctx context.Context, c HostConfig, starter *frames) error {
	lock, err := takeLock(ctx, lockFile)
	if err != nil {
		return err
	}
	defer func() { _ = flock.Release(lock) }()
	all := map[string]string{TokenVariable: h.token}
	for name, value := range h.order.Config.Secrets {
		all[name] = value
	}
	h.redactor = redact.New(all)
	st, err := store.Open(ctx, store.Config{Root: h.order.Root, AllowNetworkFS: h.order.AllowNetworkFS, Redact: h.redactor.String, Clock: h.clock})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	h.store, h.doc = st, store.Session[Info](st, h.order.Config.name())
	if err := endPredecessor(ctx, h.doc); err != nil {
		return err
	}
	exec, leave := process.Executor(process.Host{}), func() error { return nil }
	if place := h.order.Config.Place; place != "" {
		if c.Entrance == nil {
			return fmt.Errorf("enter its place: there is no way to %q", place)
		}
		if exec, leave, err = c.Entrance(ctx, place); err != nil {
			return fmt.Errorf("enter its place: %w", err)
		}
		debug.FreeOSMemory() // entering takes more memory than staying
	}
	leave = sync.OnceValue(leave)
	defer func() { _ = leave() }() // for a session whose agent never ran
	ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	return h.begin(ctx, exec, leave, starter)
}

// endPredecessor ends the processes that a killed host of the same name left.
func endPredecessor(ctx context.Context, doc *store.Document[Info]) error {
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

// startGrace is how long after its order a start may fail and still be reported to the starter. A later
// failure is in the document.
const startGrace = 100 * time.Millisecond

// begin opens the record and the sockets, starts the agent and waits for its end.
func (h *host) begin(ctx context.Context, exec process.Executor, leave func() error, starter *frames) (err error) {
	c := h.order.Config
	if err := os.RemoveAll(textFolder); err != nil {
		return fmt.Errorf("remove earlier lines: %w", err)
	}
	if h.record, err = newRecord(".", c.RecordLimit); err != nil {
		return err
	}
	if c.Code != "" {
		h.secretCode = redact.New(map[string]string{"CODE": c.Code})
	}
	h.recording, h.telling = h.hiding(h.recordOutput), h.hiding(h.clean.Write)
	size := c.size()
	h.size = size
	h.raw.resize(int(size.Rows), int(size.Columns))
	h.detector = terminal.NewDetector(terminal.DetectorConfig{Issue: c.Issue, Prompt: c.Prompt, Code: c.Code, Rows: int(size.Rows),
		Columns: int(size.Columns), Say: func(w terminal.Word) { h.hear(ctx, w, Marked) }, Left: h.leaveScreen})
	h.redacting = h.redactor.Writer(writerFunc(h.keep))
	self, _ := process.Current() // zero if the kernel doesn't tell
	digest := sha256.Sum256([]byte(h.token))
	h.info = Info{Version: documentVersion, Issue: c.Issue, Name: c.name(), Agent: c.Agent, Mode: c.Mode, TmuxSocket: c.TmuxSocket, ID: rand.Text(),
		TokenDigest: hex.EncodeToString(digest[:]), HostPID: os.Getpid(), HostStart: self.Start, StartedAt: h.clock().UTC()}
	if err := errors.Join(h.save(ctx, func(*Info) {}), h.publish(ctx, h.store, h.info)); err != nil {
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
	answered.Go(func() {
		select {
		case <-h.ended:
		case <-time.After(startGrace):
		}
		h.reply(starter, nil) // which may have ended
	})
	result, err := exec.Exec(ctx, h.command())
	h.finish(context.WithoutCancel(ctx), result, errors.Join(err, leave()))
	answered.Wait()
	return nil
}

// obey ends the session at a signal. If its window hangs up, the session is lost; without a window there is
// nothing to hang up. Keys typed at a terminal are for the agent; ignoring their signals would pass that on
// to the agent's programs, so they are caught instead.
func (h *host) obey(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP)
	go func() {
		for {
			select {
			case s := <-signals:
				switch {
				case s == syscall.SIGTERM:
					h.end(Stopped)
				case s == syscall.SIGHUP && h.order.Config.Mode == Tmux:
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

// command returns the agent's command for its executor.
func (h *host) command() process.Command {
	c := h.order.Config
	report := filepath.Join(h.dir, reportFolder)
	printed := &printing{h}
	command := process.Command{Args: c.Args, Dir: c.Dir, Reads: c.Reads, Writes: append(c.Writes[:len(c.Writes):len(c.Writes)], report),
		Reaches: c.Reaches, Idle: c.Idle, Total: c.Total, Grace: c.Grace, Stdout: printed,
		Env: append(c.Env[:len(c.Env):len(c.Env)], TokenVariable+"="+h.token, SocketVariable+"="+filepath.Join(report, reportSocket), h.info.tag())}
	if command.Dir == "" && c.Place == "" {
		command.Dir = h.order.Root
	}
	if c.Mode == Headless {
		command.Stderr = printed
		if c.Input != "" {
			command.Stdin = strings.NewReader(c.Input)
		}
		return command
	}
	command.Stdin = h.input
	command.Terminal = &process.Terminal{Size: c.size(), Resize: h.resize}
	return command
}

// printing takes what the agent prints. One Writer for both streams keeps their order.
type printing struct{ h *host }

// Write implements io.Writer. It returns no error: a failing record must not end the agent.
func (p *printing) Write(b []byte) (int, error) {
	_, _ = p.h.raw.Write(b)
	if _, err := p.h.redacting.Write(b); err != nil {
		p.h.log.Error("pass on output", "error", err)
	}
	p.h.settleLater()
	return len(b), nil
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
