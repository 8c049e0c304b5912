package egress

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ListenUnix listens on a socket in the file system, for a proxy whose clients are in another network
// namespace and connect through Forward. It replaces a socket left by a killed process.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == os.ModeSocket {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace socket of the proxy: %w", err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy's clients: %w", err)
	}
	return l, nil
}

// Forward is the part inside a sandbox that has a running process: it listens at a policy's Addresses
// and connects them to the socket of ListenUnix, until ctx ends.
func Forward(ctx context.Context, addresses []string, socket string) error {
	listeners, err := listen(ctx, addresses)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error)
	for i, l := range listeners {
		target := addresses[i]
		if i == 0 {
			target = "" // the proxy itself
		}
		go func() { ended <- accept(ctx, l, func(c net.Conn) { forward(ctx, c, socket, target) }) }()
	}
	for range listeners {
		if e := <-ended; err == nil {
			err = e
		}
		cancel()
	}
	return err
}

// forward connects one client to the proxy and, if target isn't empty, through it to target. If there
// is no proxy, the client sees a closed connection, as from a server that is down.
func forward(ctx context.Context, client net.Conn, socket, target string) {
	waiting, cancel := context.WithTimeout(ctx, changeover)
	defer cancel()
	proxy, err := new(net.Dialer).DialContext(waiting, "unix", socket)
	for err != nil && waiting.Err() == nil {
		select {
		case <-waiting.Done():
		case <-time.After(changeoverPause):
			proxy, err = new(net.Dialer).DialContext(waiting, "unix", socket)
		}
	}
	if err == nil && target != "" {
		proxy, err = through(ctx, proxy, target)
	}
	if err != nil {
		_ = client.Close()
		return
	}
	tunnel(ctx, client, proxy)
}

// The proxy may be moving from a process that ended to another one. A client waits for it for up to
// changeover, and retries every changeoverPause.
const changeover, changeoverPause = 2 * time.Second, 5 * time.Millisecond

// through asks the proxy for a tunnel to target. It takes over the connection.
func through(ctx context.Context, proxy net.Conn, target string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = proxy.Close() })
	defer stop()
	reader := bufio.NewReader(proxy)
	_, err := fmt.Fprintf(proxy, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	if err == nil {
		var line string
		answer := textproto.NewReader(reader)
		if line, err = answer.ReadLine(); err == nil {
			_, err = answer.ReadMIMEHeader()
		}
		if err == nil && !strings.HasPrefix(line, "HTTP/1.1 200 ") {
			err = fmt.Errorf("ask the proxy for a tunnel: %s", line)
		}
	}
	if err != nil {
		_ = proxy.Close()
		return nil, err
	}
	return &buffered{duplex: duplex{proxy}, reader: reader}, nil
}

// listen listens at every address, in the network namespace of the calling thread.
func listen(ctx context.Context, addresses []string) (listeners []net.Listener, err error) {
	for _, address := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if err != nil {
			closeAll(listeners)
			return nil, fmt.Errorf("listen inside: %w", err)
		}
		listeners = append(listeners, l)
	}
	return listeners, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// Lead connects an address of the loopback interface inside to a socket, until stop is called. It
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

// SocketOf returns the path in dir of the socket between Lead and Relay for an address.
func SocketOf(dir, address string) (string, error) {
	_, port, err := split(address)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, fmt.Sprintf("%d.sock", port)), nil
}
