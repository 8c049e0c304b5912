package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// The socket of the proxy, in a folder that the container shows read-only.
const (
	egressInside = execserver.ReachFolder
	egressSocket = "proxy.sock"
)

// connected runs a command with a way to the proxy, if that is the policy, and lists the refused hosts at the
// end of its standard error.
func (e *Environment) connected(ctx context.Context, c process.Command, run func(process.Command) (process.Result, error)) (process.Result, error) {
	stop, err := e.relay(ctx, c.Reaches)
	defer stop()
	if err != nil {
		return process.Result{}, err
	}
	if e.driver.config.Network != egress.Registries {
		return run(c)
	}
	c.Env = lastOfEach(append(c.Env, egress.Variables(c.Env)...))
	blocked := &egress.Blocklist{}
	leave, err := e.gate.enter(ctx, e, blocked)
	if err != nil {
		return process.Result{}, err
	}
	result, err := run(c)
	return result, errors.Join(err, leave(), blocked.Tell(c.Stderr))
}

// relay connects the addresses that a command must reach to this machine until stop is called, which is
// never nil.
func (e *Environment) relay(ctx context.Context, addresses []string) (stop func(), err error) {
	if len(addresses) == 0 {
		return func() {}, nil
	}
	dir, err := os.Open(e.egressFolder)
	if err != nil {
		return func() {}, fmt.Errorf("open folder of sockets: %w", err)
	}
	var stops []func()
	stop = func() {
		for _, stop := range stops {
			stop()
		}
		_ = dir.Close()
	}
	for _, address := range addresses {
		socket, err := egress.SocketOf(inFolder(dir), address)
		if err != nil {
			return stop, err
		}
		one, err := egress.Relay(ctx, socket, address)
		if err != nil {
			return stop, err
		}
		stops = append(stops, one)
	}
	return stop, nil
}

// gate serves the proxy while any command of the environment runs.
type gate struct {
	mu       sync.Mutex
	commands []*egress.Blocklist
	stop     func() error
}

// enter opens the gate for a command, until leave is called.
func (g *gate) enter(ctx context.Context, e *Environment, list *egress.Blocklist) (leave func() error, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.commands) == 0 {
		if g.stop, err = e.serveProxy(context.WithoutCancel(ctx), g.blocked); err != nil {
			return nil, err
		}
	}
	g.commands = append(g.commands, list)
	return func() error {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.commands = slices.DeleteFunc(g.commands, func(other *egress.Blocklist) bool { return other == list })
		if len(g.commands) == 0 {
			return g.stop()
		}
		return nil
	}, nil
}

// blocked records a host for every command: which one asked is unknown.
func (g *gate) blocked(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, list := range g.commands {
		list.Add(host)
	}
}

// serveProxy serves the proxy at the environment's socket. One process does at a time; another one, such as a
// person's shell beside a run, takes over when that one ends.
func (e *Environment) serveProxy(ctx context.Context, blocked func(string)) (stop func() error, err error) {
	dir, err := os.Open(e.egressFolder)
	if err != nil {
		return nil, fmt.Errorf("open folder of the proxy: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	first, err := flock.Try(dir)
	var listener net.Listener
	if first {
		listener, err = egress.ListenUnix(ctx, filepath.Join(inFolder(dir), egressSocket))
	}
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("claim the proxy's socket: %w", err), flock.Release(dir))
	}
	ended := make(chan error, 1)
	go func() { ended <- e.serveInTurn(ctx, dir, listener, blocked) }()
	return func() error { cancel(); return <-ended }, nil
}

// serveInTurn serves the proxy until ctx ends, at once if there is a listener, and releases dir.
func (e *Environment) serveInTurn(ctx context.Context, dir *os.File, listener net.Listener, blocked func(string)) (err error) {
	if listener == nil {
		err := flock.Wait(ctx, dir)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("wait for the proxy's socket: %w", err)
		}
		if listener, err = egress.ListenUnix(ctx, filepath.Join(inFolder(dir), egressSocket)); err != nil {
			return errors.Join(err, flock.Release(dir))
		}
	}
	return errors.Join(e.driver.proxy.Serve(ctx, []net.Listener{listener}, blocked), flock.Release(dir))
}

// inFolder returns a short path of an open folder: the address of a socket must be short, and a project's path
// may be long.
func inFolder(dir *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) }
