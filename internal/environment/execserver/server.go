package execserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"

	"golang.org/x/sys/unix"
)

const (
	// maxConnections limits the commands of one container. A build beside an agent, a test and a person
	// needs five.
	maxConnections = 64
	// orderWait is how long a new connection may take to send its order.
	orderWait = 10 * time.Second
)

// Server runs the commands of its connections, each with process.Run.
type Server struct {
	// Idle, if set, is called when a command has ended and no other is running. No command starts until it
	// returns.
	Idle func()

	running sync.RWMutex // held for reading by each command
}

// Serve answers connections until ctx ends or the listener fails. It returns when no command is running.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var open sync.WaitGroup
	defer open.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })() // of this ctx: Accept's error is compared with it
	slots := make(chan struct{}, maxConnections)
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept command: %w", err)
		}
		slots <- struct{}{}
		open.Go(func() {
			defer func() { <-slots }()
			defer func() { _ = conn.Close() }()
			s.answer(ctx, conn)
		})
	}
}

// answer runs the single command of a connection. It reports no broken connection, because the client
// sees it too.
func (s *Server) answer(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	to, from := &frames{to: conn}, &reader{from: conn}
	// The system's clock: this is the connection's deadline, not a time of the command.
	timer := time.AfterFunc(orderWait, func() { _ = conn.Close() })
	k, payload, err := from.next()
	var o order
	if !timer.Stop() || err != nil || k != kindOrder || json.Unmarshal(payload, &o) != nil {
		return
	}
	if why := o.stale(); why != "" {
		_ = to.sendJSON(kindFailed, failure{Stale: true, Message: why})
		return
	}
	if len(o.Args) == 0 {
		_ = to.sendJSON(kindEnd, end{Ending: process.Exited})
		return
	}
	s.perform(ctx, cancel, o, to, from)
}

// stale returns what differs here from the client's order; empty if nothing does.
func (o order) stale() string {
	if o.Version != Version {
		return "the exec server has version " + Version
	}
	for _, m := range o.Mounts {
		var stat unix.Stat_t
		if err := unix.Stat(m.Path, &stat); err != nil {
			return fmt.Sprintf("look at %s: %v", m.Path, err)
		}
		if stat.Dev != m.Device || stat.Ino != m.Inode {
			return m.Path + " is another folder"
		}
	}
	return ""
}

// perform runs a valid order until it ends or the client disconnects.
func (s *Server) perform(ctx context.Context, cancel func(), o order, to *frames, from *reader) {
	in := &input{ctx: ctx, frames: to, queue: make(chan []byte, window+1)}
	sizes := make(chan process.TerminalSize, 1)
	go func() {
		defer cancel()
		for from.take(in, sizes) {
		}
	}()
	env, remove, err := withTemporary(o.Env)
	if err != nil {
		_ = to.sendJSON(kindFailed, failure{Message: err.Error()})
		return
	}
	defer remove() // no one waits for it
	o.Env = env
	result, err := s.run(ctx, o, to, in, sizes)
	if err != nil && result.Started.IsZero() {
		_ = to.sendJSON(kindFailed, failure{Message: err.Error()})
		return
	}
	e := end{result.ExitCode, result.Signal, result.Ending, result.Duration, result.Truncated, result.CPU, result.MaxRSS, ""}
	if err != nil {
		e.Problem = err.Error()
	}
	_ = to.sendJSON(kindEnd, e)
}

// run runs the order's command with its streams. No command runs while Idle does.
func (s *Server) run(ctx context.Context, o order, to *frames, in *input, sizes <-chan process.TerminalSize) (process.Result, error) {
	s.running.RLock()
	defer s.idle()
	defer s.running.RUnlock()
	unlead, err := lead(ctx, o.Reaches)
	defer unlead()
	if err != nil {
		return process.Result{}, err
	}
	c := process.Command{Args: o.Args, Dir: o.Dir, Env: o.Env, Idle: o.Idle, Total: o.Total, Grace: o.Grace, OutputLimit: o.Limit}
	if o.Out {
		c.Stdout = &stream{to, kindOut}
	}
	switch {
	case o.Merged:
		c.Stderr = c.Stdout
	case o.Err:
		c.Stderr = &stream{to, kindErr}
	}
	if o.Input {
		c.Stdin = in
	}
	if o.Terminal != nil {
		c.Terminal = &process.Terminal{Size: *o.Terminal, Resize: sizes}
	}
	return process.Run(ctx, c)
}

// lead connects addresses to the outside until unlead is called, which is never nil.
func lead(ctx context.Context, addresses []string) (unlead func(), err error) {
	var stops []func()
	unlead = func() {
		for _, stop := range stops {
			stop()
		}
	}
	for _, address := range addresses {
		socket, err := egress.SocketOf(ReachFolder, address)
		if err != nil {
			return unlead, err
		}
		stop, err := egress.Lead(ctx, address, socket)
		if err != nil {
			return unlead, err
		}
		stops = append(stops, stop)
	}
	return unlead, nil
}

// idle calls Idle if no command is running.
func (s *Server) idle() {
	if s.Idle != nil && s.running.TryLock() {
		defer s.running.Unlock()
		s.Idle()
	}
}

// withTemporary gives a command its own temporary folder, unless it names one.
func withTemporary(env []string) (_ []string, remove func(), err error) {
	if slices.ContainsFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "TMPDIR=") }) {
		return env, func() {}, nil
	}
	dir, err := os.MkdirTemp("/tmp", "signalbox-")
	if err != nil {
		return nil, nil, fmt.Errorf("make temporary folder: %w", err)
	}
	// An undeletable file goes with the container.
	return append(env[:len(env):len(env)], "TMPDIR="+dir), func() { _ = os.RemoveAll(dir) }, nil
}
