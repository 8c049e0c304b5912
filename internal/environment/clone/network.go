package clone

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

// connected runs c with as much of the network as the configuration says, and what c must reach.
func (d *Driver) connected(ctx context.Context, v view, dir string, c process.Command) (process.Result, error) {
	return d.connectedAs(ctx, d.config.Network, v, dir, c)
}

// connectedAs runs c with that much of the network, and what c must reach.
func (d *Driver) connectedAs(ctx context.Context, network string, v view, dir string, c process.Command) (process.Result, error) {
	switch {
	case network == egress.Registries:
		return d.proxied(ctx, v, dir, c, d.proxy.With(c.Reaches))
	case network == egress.None && len(c.Reaches) > 0:
		return d.proxied(ctx, v, dir, c, d.closed.With(c.Reaches))
	case network == egress.None:
		return d.sandboxed(ctx, v, dir, c, noNetwork)
	}
	return d.sandboxed(ctx, v, dir, c)
}

// proxied runs c in a network namespace that leads to the proxy and nowhere else. What was
// refused is said at the end of c's standard error, where the run's log and the agent see it.
func (d *Driver) proxied(ctx context.Context, v view, dir string, c process.Command, proxy *egress.Proxy) (process.Result, error) {
	c.Env = lastOfEach(append(c.Env[:len(c.Env):len(c.Env)], egress.Variables(c.Env)...))
	blocked := &egress.Blocklist{}
	addresses := proxy.Policy().Addresses()
	namespace, err := d.newNamespace(ctx, addresses)
	if errors.Is(err, egress.ErrNotPermitted) {
		if n := d.takeNetwork(ctx, v.within, addresses); n != nil {
			defer d.giveNetworkBack(n)
			v.within, v.connected = n, true
			result, err := d.lent(ctx, v, dir, c, proxy, blocked)
			return result, errors.Join(err, blocked.Tell(c.Stderr))
		}
		result, err := d.entered(ctx, v, dir, c, proxy, blocked)
		return result, errors.Join(err, blocked.Tell(c.Stderr))
	}
	if err != nil {
		return process.Result{}, err
	}
	c.Network = namespace.File
	stop := serve(ctx, proxy, namespace.Listeners, blocked)
	result, err := d.sandboxed(ctx, v, dir, c)
	return result, errors.Join(err, stop(), namespace.Close(), blocked.Tell(c.Stderr))
}

// newNamespace makes the network namespace from outside, where that is permitted.
func (d *Driver) newNamespace(ctx context.Context, addresses []string) (*egress.Namespace, error) {
	if d.config.enter {
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
func (d *Driver) entered(ctx context.Context, v view, dir string, c process.Command, proxy *egress.Proxy, blocked *egress.Blocklist) (process.Result, error) {
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
	v.mounts[enterPath] = mount{kind: readOnly, source: self}
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
	result, err := d.sandboxed(ctx, v, dir, c, noNetwork)
	_ = h.Inside.Close() // a program that never entered is waited for no longer
	problem := errors.Join((<-served)(), h.Complaint())
	if err == nil && result.Ending == process.Exited {
		err = problem
	}
	return result, err
}

// firstFile is the number of the first of Command.Files.
const firstFile = 3
