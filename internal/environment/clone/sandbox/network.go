package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"

	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// noNetwork is bwrap's option for a network namespace with nothing in it.
const noNetwork = "--unshare-net"

// Run runs c in dir, a path inside, with this network access (egress.Full, also when empty, egress.Registries or egress.None)
// and access to the addresses that c must reach.
func (s *Sandbox) Run(ctx context.Context, network string, v View, dir string, c process.Command) (process.Result, error) {
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

// Isolated runs c in dir, a path inside, without any network, whatever c must reach.
func (s *Sandbox) Isolated(ctx context.Context, v View, dir string, c process.Command) (process.Result, error) {
	return s.sandboxed(ctx, v, dir, c, noNetwork)
}

// proxied runs c in a network namespace that leads to the proxy and nowhere else. It appends the refused hosts to c's standard
// error, where the run's log and the agent see them.
func (s *Sandbox) proxied(ctx context.Context, v View, dir string, c process.Command, proxy *egress.Proxy) (result process.Result, err error) {
	c.Env = LastOfEach(append(c.Env[:len(c.Env):len(c.Env)], egress.Variables(c.Env)...))
	blocked := &egress.Blocklist{}
	addresses := proxy.Policy().Addresses()
	namespace, err := (*egress.Namespace)(nil), egress.ErrNotPermitted
	if !s.config.NoNetworks {
		namespace, err = egress.NewNamespace(ctx, addresses)
	}
	switch {
	case err == nil:
		c.Network = namespace.File
		stop := serve(ctx, proxy, namespace.Listeners, blocked)
		result, err = s.sandboxed(ctx, v, dir, c)
		err = errors.Join(err, stop(), namespace.Close())
	case !errors.Is(err, egress.ErrNotPermitted):
		return process.Result{}, err
	default:
		n, giveBack := s.takeNetwork(ctx, v.Within, addresses)
		if n == nil {
			result, err = s.entered(ctx, v, dir, c, proxy, blocked)
			break
		}
		defer giveBack()
		v.Within, v.connected = n, true
		listeners, listenErr := n.Listen()
		if listenErr != nil {
			return process.Result{}, errors.Join(listenErr, blocked.Tell(c.Stderr))
		}
		stop := serve(ctx, proxy, listeners, blocked)
		result, err = s.sandboxed(ctx, v, dir, c)
		err = errors.Join(err, stop())
	}
	return result, errors.Join(err, blocked.Tell(c.Stderr))
}

// Addresses returns the addresses that commands with egress.Registries reach in a namespace's own network.
func (s *Sandbox) Addresses() []string {
	if s.config.Network != egress.Registries {
		return nil
	}
	return s.config.Egress.Addresses()
}

// takeNetwork takes a namespace with a network for one command: the one that has the command's folders, or one in which an
// earlier command and all it started have ended, or a new one. It returns nil if there is none with listeners at these addresses.
func (s *Sandbox) takeNetwork(ctx context.Context, within *overlay.Namespace, addresses []string) (n *overlay.Namespace, giveBack func()) {
	if !slices.Equal(addresses, s.Addresses()) || s.config.NoNamespaces { // a command that must reach more than others
		return nil, nil
	}
	s.networks.Lock()
	defer s.networks.Unlock()
	switch {
	case s.refused:
		return nil, nil
	case within != nil:
		if giveBack = within.Take(); giveBack == nil {
			return nil, nil
		}
		return within, giveBack
	case len(s.idle) > 0:
		n, s.idle = s.idle[0], s.idle[1:]
	default:
		var err error
		if n, err = overlay.NewNamespace(ctx, nil, addresses); err != nil {
			s.refused = ctx.Err() == nil
			return nil, nil
		}
	}
	return n, func() {
		s.networks.Lock()
		defer s.networks.Unlock()
		s.idle = append(s.idle, n)
	}
}

// serve serves listeners until stop is called.
func serve(ctx context.Context, proxy *egress.Proxy, listeners []net.Listener, blocked *egress.Blocklist) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- proxy.Serve(ctx, listeners, blocked.Add) }()
	return func() error { cancel(); return <-ended }
}

// enterPath is our own program inside, under the name that tells it what to do.
const enterPath = "/run/" + egress.EnterName

// firstFile is the number of the first of Command.Files.
const firstFile = 3

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
	_ = h.Inside.Close() // don't wait any longer for a program that never entered
	problem := errors.Join((<-served)(), h.Complaint())
	if err == nil && result.Ending == process.Exited {
		err = problem
	}
	return result, err
}
