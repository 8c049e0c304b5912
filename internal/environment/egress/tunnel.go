package egress

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// tunnel passes bytes both ways until both sides end, one of them breaks, or ctx ends.
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

// duplex is a connection that passes on the end of one direction.
type duplex struct{ net.Conn }

func (d duplex) CloseWrite() error { return closeWrite(d.Conn) }

// closeWrite ends one direction; the other side can still send.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
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

// limited accepts a number of connections at a time; further ones wait in the kernel.
type limited struct {
	net.Listener
	places chan struct{} // holds one entry for each that is taken
	shut   chan struct{}
	close  func() error
}

func newLimited(l net.Listener, connections int) *limited {
	shut := make(chan struct{})
	return &limited{Listener: l, places: make(chan struct{}, connections), shut: shut,
		close: sync.OnceValue(func() error { close(shut); return l.Close() })}
}

// Accept implements net.Listener. It waits for a free place first.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.places <- struct{}{}:
	case <-l.shut:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.places
		return nil, err
	}
	return &counted{duplex: duplex{conn}, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// Close implements net.Listener.
func (l *limited) Close() error { return l.close() }

// drain returns when the listener and all its connections are closed.
func (l *limited) drain() {
	<-l.shut
	for range cap(l.places) {
		l.places <- struct{}{}
	}
}

// counted gives its place back when it is closed.
type counted struct {
	duplex
	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
