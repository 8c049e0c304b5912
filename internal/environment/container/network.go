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
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
	"signalbox/internal/environment/execserver"
	"signalbox/internal/process"
)

// The socket of the proxy, in a folder that the container shows read-only.
const (
	egressInside = execserver.ReachFolder
	egressSocket = "proxy.sock"
)

// egressFolder holds the proxy's socket.
func (e *Environment) egressFolder() string { return filepath.Join(e.private(), "egress") }

// forwarding are the arguments with which the exec server leads the policy's addresses to the proxy.
func (e *Environment) forwarding() []string {
	if e.driver.config.Network != egress.Registries {
		return nil
	}
	return append([]string{filepath.Join(egressInside, egressSocket)}, e.driver.config.Egress.Addresses()...)
}

// connected runs a command with a way to the proxy, if that is the policy, and says at the end of
// its standard error what was refused.
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
	blocked := &blocklist{}
	leave, err := e.gate.enter(ctx, e, blocked)
	if err != nil {
		return process.Result{}, err
	}
	result, err := run(c)
	return result, errors.Join(err, leave(), blocked.tell(c))
}

// relay leads what a command must reach to this machine until stop is called, which is never nil.
func (e *Environment) relay(ctx context.Context, addresses []string) (stop func(), err error) {
	if len(addresses) == 0 {
		return func() {}, nil
	}
	dir, err := os.Open(e.egressFolder())
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

// gate serves the proxy as long as any command of the environment runs.
type gate struct {
	mu       sync.Mutex
	commands []*blocklist
	stop     func() error
}

// enter opens the gate for a command, until leave is called.
func (g *gate) enter(ctx context.Context, e *Environment, list *blocklist) (leave func() error, err error) {
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
		g.commands = slices.DeleteFunc(g.commands, func(other *blocklist) bool { return other == list })
		if len(g.commands) == 0 {
			return g.stop()
		}
		return nil
	}, nil
}

// blocked tells every command: which one asked is not known.
func (g *gate) blocked(host string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, list := range g.commands {
		list.add(host)
	}
}

// takeOver is how often a process asks whether it is the one to serve the proxy. Nothing tells
// when another, a person's shell beside a run, has ended.
const takeOver = 100 * time.Millisecond

// serveProxy serves the proxy at the environment's socket. One process does at a time; another
// takes over when that one ends.
func (e *Environment) serveProxy(ctx context.Context, blocked func(string)) (stop func() error, err error) {
	dir, err := os.Open(e.egressFolder())
	if err != nil {
		return nil, fmt.Errorf("open folder of the proxy: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	listener, err := claim(ctx, dir)
	if err != nil {
		cancel()
		return nil, errors.Join(err, dir.Close())
	}
	ended := make(chan error, 1)
	go func() {
		var err error
		for listener == nil && err == nil {
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(takeOver):
				listener, err = claim(ctx, dir)
			}
		}
		if listener != nil {
			err = e.driver.proxy.Serve(ctx, []net.Listener{listener}, blocked)
		}
		ended <- err
	}()
	return func() error {
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, dir.Close()) // which frees the claim
	}, nil
}

// claim listens in dir if no other process does; nil without an error if one does.
func claim(ctx context.Context, dir *os.File) (net.Listener, error) {
	err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim the proxy's socket: %w", err)
	}
	return egress.ListenUnix(ctx, filepath.Join(inFolder(dir), egressSocket))
}

// inFolder is a path of an open folder: the address of a socket is short, the path of a project need not be.
func inFolder(dir *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) }

// blocklist is what was refused while a command ran.
type blocklist struct {
	mu    sync.Mutex
	hosts []string
}

// maxBlocked is how many hosts are named.
const maxBlocked = 20

func (b *blocklist) add(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.hosts) < maxBlocked {
		b.hosts = append(b.hosts, host)
	}
}

// tell writes the list to the command's standard error.
func (b *blocklist) tell(c process.Command) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, host := range b.hosts {
		if c.Stderr == nil {
			return nil
		}
		if _, err := fmt.Fprintf(c.Stderr, "signalbox: blocked: %s (environment.allow)\n", host); err != nil {
			return fmt.Errorf("tell what was blocked: %w", err)
		}
	}
	return nil
}
