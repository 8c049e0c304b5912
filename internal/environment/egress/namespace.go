package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Namespace is a network namespace with only a loopback interface, on which a process outside listens.
type Namespace struct {
	// File holds the namespace open; programs are started in it.
	File *os.File
	// Listeners listen at the requested addresses.
	Listeners []net.Listener
}

// ErrNotPermitted: only root may make a network namespace and continue outside it. Without that
// right, the program inside listens itself and passes its listeners on through a Handover.
var ErrNotPermitted = errors.New("no right to make a network namespace")

// NewNamespace makes a network namespace and listens in it. It needs no process inside: a socket stays
// in the namespace of the thread that made it, no matter which process uses it. The kernel removes
// the namespace when its last program has ended and File is closed.
func NewNamespace(ctx context.Context, addresses []string) (*Namespace, error) {
	type made struct {
		namespace *Namespace
		err       error
	}
	done := make(chan made)
	go func() {
		// Never unlocked: the thread ends with this function, and nothing else ever runs on it.
		runtime.LockOSThread()
		n, err := newNamespace(ctx, addresses)
		done <- made{n, err}
	}()
	m := <-done
	if m.err != nil {
		return nil, fmt.Errorf("make network namespace: %w", m.err)
	}
	return m.namespace, nil
}

func newNamespace(ctx context.Context, addresses []string) (*Namespace, error) {
	err := unix.Unshare(unix.CLONE_NEWNET)
	if errors.Is(err, unix.EPERM) {
		return nil, ErrNotPermitted
	}
	if err != nil {
		return nil, err
	}
	if err := RaiseLoopback(); err != nil {
		return nil, err
	}
	file, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	listeners, err := listen(ctx, addresses)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Namespace{File: file, Listeners: listeners}, nil
}

// RaiseLoopback raises the loopback interface of the calling thread's network namespace.
func RaiseLoopback() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("raise loopback interface: %w", err)
		}
	}()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback)
}

// Close closes the listeners and releases the namespace.
func (n *Namespace) Close() error {
	closeAll(n.Listeners)
	return n.File.Close()
}
