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
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/process"
	"signalbox/internal/redact"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
)

// hold takes the session's lock and holds the session.
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
	if err := buryPredecessor(ctx, h.doc); err != nil {
		return err
	}
	exec, leave, err := h.enter(ctx, c.Entrance)
	if err != nil {
		return fmt.Errorf("enter its place: %w", err)
	}
	leave = sync.OnceValue(leave)
	defer func() { _ = leave() }() // for a session that did not come to run
	ctx, h.cancel = context.WithCancel(ctx)
	defer h.cancel()
	return h.begin(ctx, exec, leave, starter)
}

// enter leads to where the agent runs.
func (h *host) enter(ctx context.Context, entrance Entrance) (exec process.Executor, leave func() error, err error) {
	place := h.order.Config.Place
	switch {
	case place == "":
		return process.Host{}, func() error { return nil }, nil
	case entrance == nil:
		return nil, nil, fmt.Errorf("there is no way to %q", place)
	}
	exec, leave, err = entrance(ctx, place)
	debug.FreeOSMemory() // finding the way took more than staying there does
	return exec, leave, err
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
		Columns: int(size.Columns), Say: func(w terminal.Word) { h.hear(ctx, w, Marked) }, Left: h.leave})
	h.redacting = h.redactor.Writer(writerFunc(h.keep))
	self, _ := process.Current() // where it isn't told, zero
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
	answered.Go(func() { h.answerStarter(starter) })
	result, err := exec.Exec(ctx, h.command())
	h.finish(context.WithoutCancel(ctx), result, errors.Join(err, leave()))
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
// one there is nothing to hang up. What is typed at a terminal is for the agent; it is not ignored here,
// for programs inherit that.
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
