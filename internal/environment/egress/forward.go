package egress

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"strings"
	"time"
)

// ListenUnix listens on a socket in the file system, for a proxy whose clients are in another network namespace and connect through Forward. It
// replaces a socket left by a killed process.
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

// Forward is the part inside a sandbox that has a running process: it listens at a policy's Addresses and connects them to the socket of
// ListenUnix, until ctx ends.
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

// forward connects one client to the proxy and, if target isn't empty, through it to target. If there is no proxy, the client sees a refused
// connection, as from a server that is down.
func forward(ctx context.Context, client net.Conn, socket, target string) {
	proxy, err := dialProxy(ctx, socket)
	if err != nil {
		_ = client.Close()
		return
	}
	if target != "" {
		if proxy, err = through(ctx, proxy, target); err != nil {
			_ = client.Close()
			return
		}
	}
	tunnel(ctx, client, proxy)
}

// The proxy may be moving from a process that ended to another one. A client waits for it for up to changeover, and retries after changeoverPause.
const changeover, changeoverPause = 2 * time.Second, 5 * time.Millisecond

func dialProxy(ctx context.Context, socket string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, changeover)
	defer cancel()
	for {
		proxy, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err == nil {
			return proxy, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(changeoverPause):
		}
	}
}

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
