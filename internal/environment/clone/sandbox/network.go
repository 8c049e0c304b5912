package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// noNetwork is the option of bwrap for a network namespace with nothing in it.
const noNetwork = "--unshare-net"

// Run runs c with as much of the network as the configuration says, and what c must reach.
func (s *Sandbox) Run(ctx context.Context, v View, dir string, c process.Command) (process.Result, error) {
	return s.RunWith(ctx, s.config.Network, v, dir, c)
}

// RunWith runs c with that much of the network, and what c must reach.
func (s *Sandbox) RunWith(ctx context.Context, network string, v View, dir string, c process.Command) (process.Result, error) {
	switch {
	case network == egress.Registries:
		return s.proxied(ctx, v, dir, c, s.proxy.With(c.Reaches))
	case network == egress.None && len(c.Reaches) > 0:
		return s.proxied(ctx, v, dir, c, s.closed.With(c.Reaches))
	case network == egress.None:
		return s.sandboxed(ctx, v, dir, c, noNetwork)
	}
	return s.sandboxed(ctx, v, dir, c)
}

// proxied runs c in a network namespace that leads to the proxy and nowhere else. What was
// refused is said at the end of c's standard error, where the run's log and the agent see it.
func (s *Sandbox) proxied(ctx context.Context, v View, dir string, c process.Command, proxy *egress.Proxy) (process.Result, error) {
	c.Env = LastOfEach(append(c.Env[:len(c.Env):len(c.Env)], egress.Variables(c.Env)...))
	blocked := &egress.Blocklist{}
	addresses := proxy.Policy().Addresses()
	namespace, err := s.newNamespace(ctx, addresses)
	if errors.Is(err, egress.ErrNotPermitted) {
		if n := s.takeNetwork(ctx, v.Within, addresses); n != nil {
			defer s.giveNetworkBack(n)
			v.Within, v.connected = n, true
			result, err := s.lent(ctx, v, dir, c, proxy, blocked)
			return result, errors.Join(err, blocked.Tell(c.Stderr))
		}
		result, err := s.entered(ctx, v, dir, c, proxy, blocked)
		return result, errors.Join(err, blocked.Tell(c.Stderr))
	}
	if err != nil {
		return process.Result{}, err
	}
	c.Network = namespace.File
	stop := serve(ctx, proxy, namespace.Listeners, blocked)
	result, err := s.sandboxed(ctx, v, dir, c)
	return result, errors.Join(err, stop(), namespace.Close(), blocked.Tell(c.Stderr))
}

// newNamespace makes the network namespace from outside, where that is permitted.
func (s *Sandbox) newNamespace(ctx context.Context, addresses []string) (*egress.Namespace, error) {
	if s.config.NoNetworks {
		return nil, egress.ErrNotPermitted
	}
	return egress.NewNamespace(ctx, addresses)
}

// serve serves listeners until stop is called.
func serve(ctx context.Context, proxy *egress.Proxy, listeners []net.Listener, blocked *egress.Blocklist) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx, listeners, blocked.Add) }()
	return func() error { cancel(); return <-ended }
}

// enterPath is our own program inside, under the name by which it knows what to do.
const enterPath = "/run/" + egress.EnterName

// entered runs c by a program inside that makes the listeners and becomes it.
func (s *Sandbox) entered(ctx context.Context, v View, dir string, c process.Command, proxy *egress.Proxy, blocked *egress.Blocklist) (process.Result, error) {
	addresses := proxy.Policy().Addresses()
	self, err := os.Executable()
	if err != nil {
		return process.Result{}, fmt.Errorf("find own program: %w", err)
	}
	h, err := egress.NewHandover()
	if err != nil {
		return process.Result{}, err
	}
	defer func() { _ = h.Close() }()
	v.Mounts[enterPath] = Mount{Kind: ReadOnly, Source: self}
	c.Args = append([]string{enterPath}, egress.EnterArguments(firstFile+len(c.Files), addresses, c.Args)...)
	c.Files = append(c.Files[:len(c.Files):len(c.Files)], h.Inside)
	served := make(chan func() error)
	go func() {
		listeners, err := h.Listeners(len(addresses))
		if err != nil {
			served <- func() error { return err }
			return
		}
		served <- serve(ctx, proxy, listeners, blocked)
	}()
	result, err := s.sandboxed(ctx, v, dir, c, noNetwork)
	_ = h.Inside.Close() // a program that never entered is waited for no longer
	problem := errors.Join((<-served)(), h.Complaint())
	if err == nil && result.Ending == process.Exited {
		err = problem
	}
	return result, err
}

// firstFile is the number of the first of Command.Files.
const firstFile = 3
