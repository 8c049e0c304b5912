package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// tunnel passes bytes both ways until both sides ended, one of them broke, or ctx ends.
func tunnel(ctx context.Context, a, b net.Conn) {
	closeBoth := func() { _, _ = a.Close(), b.Close() }
	stop := context.AfterFunc(ctx, closeBoth)
	defer stop()
	defer closeBoth()
	var passing sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		passing.Go(func() {
			if _, err := io.Copy(way[0], way[1]); err != nil || closeWrite(way[0]) != nil {
				closeBoth()
			}
		})
	}
	passing.Wait()
}

// duplex is a connection that passes on that one side has no more to say.
type duplex struct{ net.Conn }

func (d duplex) CloseWrite() error { return closeWrite(d.Conn) }

// closeWrite says to the other side that no more comes, and still hears it.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// serveAddress leads every connection to an address of this machine's loopback interface.
func (s *session) serveAddress(l net.Listener, address string) error {
	host, port, err := split(address)
	if err != nil {
		return err
	}
	return accept(s.ctx, l, func(client net.Conn) {
		server, err := s.dial(s.ctx, host, port)
		if err != nil {
			_ = client.Close() // which the client sees as it would see a server that is down
			return
		}
		tunnel(s.ctx, client, server)
	})
}

// accept hands every connection to serve until ctx ends, and returns when all are served.
func accept(ctx context.Context, l net.Listener, serve func(net.Conn)) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				_ = conn.Close()
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept connections at %s: %w", l.Addr(), err)
		}
		serving.Go(func() { serve(conn) })
	}
}
