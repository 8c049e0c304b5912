package clone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// addresses are where somebody listens in a namespace that has a network of its own.
func (d *Driver) addresses() []string {
	if d.config.Network != egress.Registries {
		return nil
	}
	return d.config.Egress.Addresses()
}

// takeNetwork is a namespace with a network for one command: that in which its folders are, or
// one that an earlier command has left, with all it started, or a new one. Nil if there is none in
// which somebody listens at these addresses.
func (d *Driver) takeNetwork(ctx context.Context, within *namespace, addresses []string) *namespace {
	if !slices.Equal(addresses, d.addresses()) || d.config.alone { // a command that must reach more than others
		return nil
	}
	d.networks.Lock()
	defer d.networks.Unlock()
	n := within
	switch {
	case within != nil && (within.network == nil || within.taken), d.refused:
		return nil
	case within != nil:
	case len(d.idle) > 0:
		n, d.idle = d.idle[0], d.idle[1:]
	default:
		var err error
		if n, err = newNamespace(ctx, nil, addresses); err != nil {
			d.refused = ctx.Err() == nil
			return nil
		}
	}
	n.taken = true
	return n
}

// giveNetworkBack leaves the network to the next command.
func (d *Driver) giveNetworkBack(n *namespace) {
	d.networks.Lock()
	defer d.networks.Unlock()
	n.taken = false
	if n.mounts == nil {
		d.idle = append(d.idle, n)
	}
}

// lent runs c in the network that was taken for it.
func (d *Driver) lent(ctx context.Context, v view, dir string, c process.Command, proxy *egress.Proxy, blocked *egress.Blocklist) (process.Result, error) {
	listeners, err := v.within.listen()
	if err != nil {
		return process.Result{}, err
	}
	stop := serve(ctx, proxy, listeners, blocked)
	result, err := d.sandboxed(ctx, v, dir, c)
	return result, errors.Join(err, stop())
}

// listen is what listens in the network, for one command: serving it ends with closing it.
func (n *namespace) listen() (listeners []net.Listener, err error) {
	for _, l := range n.listeners {
		file, err := l.(*net.TCPListener).File()
		if err == nil {
			l, err = net.FileListener(file)
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			for _, l := range listeners {
				_ = l.Close()
			}
			return nil, fmt.Errorf("listen inside: %w", err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}
