package egress

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"sync"
)

// Lead leads an address of the loopback interface inside to a socket, until stop is called. It
// listens when it returns.
func Lead(ctx context.Context, address, socket string) (stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen inside: %w", err)
	}
	return serveUntil(ctx, l, func(ctx context.Context, c net.Conn) { forward(ctx, c, socket, "") }), nil
}

// Relay connects a socket to the address on this machine's loopback interface until stop is called. It is the other end of Lead.
func Relay(ctx context.Context, socket, address string) (stop func(), err error) {
	l, err := ListenUnix(ctx, socket)
	if err != nil {
		return nil, err
	}
	return serveUntil(ctx, l, func(ctx context.Context, client net.Conn) {
		server, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			_ = client.Close()
			return
		}
		tunnel(ctx, client, server)
	}), nil
}

func serveUntil(ctx context.Context, l net.Listener, serve func(context.Context, net.Conn)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() { _ = accept(ctx, newLimited(l, maxConnections), func(c net.Conn) { serve(ctx, c) }) })
	return func() { cancel(); serving.Wait() }
}

// SocketOf returns the name in dir of the socket that an address is led through.
func SocketOf(dir, address string) (string, error) {
	_, port, err := split(address)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, fmt.Sprintf("%d.sock", port)), nil
}
