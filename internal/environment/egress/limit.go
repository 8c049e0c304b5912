package egress

import (
	"net"
	"sync"
)

// limited lets a number of connections be open at a time; further ones wait in the kernel.
type limited struct {
	net.Listener
	places chan struct{} // as many as are taken
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

// drain returns when the listener is closed and every connection of it too.
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
