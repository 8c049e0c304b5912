package sandbox

import (
	"context"
	"errors"
	"slices"

	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/environment/egress"
	"signalbox/internal/process"
)

// Addresses are where somebody listens in a namespace that has a network of its own.
func (s *Sandbox) Addresses() []string {
	if s.config.Network != egress.Registries {
		return nil
	}
	return s.config.Egress.Addresses()
}

// takeNetwork is a namespace with a network for one command: that in which its folders are, or
// one that an earlier command has left, with all it started, or a new one. Nil if there is none in
// which somebody listens at these addresses.
func (s *Sandbox) takeNetwork(ctx context.Context, within *overlay.Namespace, addresses []string) *overlay.Namespace {
	if !slices.Equal(addresses, s.Addresses()) || s.config.NoNamespaces { // a command that must reach more than others
		return nil
	}
	s.networks.Lock()
	defer s.networks.Unlock()
	n := within
	switch {
	case s.refused, within != nil && !within.Take():
		return nil
	case within != nil:
	case len(s.idle) > 0:
		n, s.idle = s.idle[0], s.idle[1:]
	default:
		var err error
		if n, err = overlay.NewNamespace(ctx, nil, addresses); err != nil {
			s.refused = ctx.Err() == nil
			return nil
		}
	}
	if within == nil {
		n.Take()
	}
	return n
}

// giveNetworkBack leaves the network to the next command.
func (s *Sandbox) giveNetworkBack(n *overlay.Namespace) {
	s.networks.Lock()
	defer s.networks.Unlock()
	n.GiveBack()
	if !n.Mounts() {
		s.idle = append(s.idle, n)
	}
}

// lent runs c in the network that was taken for it.
func (s *Sandbox) lent(ctx context.Context, v View, dir string, c process.Command, proxy *egress.Proxy, blocked *egress.Blocklist) (process.Result, error) {
	listeners, err := v.Within.Listen()
	if err != nil {
		return process.Result{}, err
	}
	stop := serve(ctx, proxy, listeners, blocked)
	result, err := s.sandboxed(ctx, v, dir, c)
	return result, errors.Join(err, stop())
}
