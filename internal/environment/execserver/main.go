package execserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/egress"
)

// serve is the argument that the first process gives the server it starts.
const serve = "serve"

// errOutside: it was started where it could end other programs' processes.
var errOutside = errors.New("the exec server works only as the first process of a container")

// Main runs the program inside and returns the exit code. Its arguments are the folder for its socket,
// and optionally the socket of an egress proxy and the addresses that lead there: then it is the
// container's first process, which owns the socket and reaps orphans. With "serve" instead of the folder
// it is that process's child, which runs the commands.
//
// Commands run as the same user as the server. They can't trace either process, read its memory or take
// its descriptors, because neither is dumpable; and they can't pose as the server, because the client asks
// the kernel who listens.
func Main(ctx context.Context, args []string) int {
	var err error
	switch {
	case len(args) == 0 || len(args) == 2:
		err = fmt.Errorf("got %d arguments", len(args))
	case args[0] == serve:
		err = serveInherited(ctx, args[1:])
	case os.Getpid() != 1:
		err = errOutside
	default:
		err = first(args[0], args[1:])
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", Name, err)
	return 1
}

// hide keeps other processes of the same user out of this one.
func hide() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide from commands: %w", err)
	}
	return nil
}

// first owns the socket in dir, starts the server and reaps orphans. It ends with the server, and the
// container ends with it.
func first(dir string, forward []string) error {
	if err := hide(); err != nil {
		return err
	}
	path := filepath.Join(dir, Socket)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	file, err := listener.File()
	if err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	server, err := os.StartProcess("/proc/self/exe", append([]string{Name, serve}, forward...), &os.ProcAttr{
		Env: os.Environ(), Files: []*os.File{nil, os.Stdout, os.Stderr, file},
	})
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait for the server: %w", err)
		case ended == server.Pid:
			return fmt.Errorf("the server ended with status %#x", int(status))
		}
	}
}

// serveInherited runs commands from the socket that the first process opened.
func serveInherited(ctx context.Context, forward []string) error {
	const inherited = 3
	// The kernel records which process called listen. If that isn't the first process of a namespace, this
	// is no container, and Idle would end other programs.
	owner, err := unix.GetsockoptUcred(inherited, unix.SOL_SOCKET, unix.SO_PEERCRED)
	namespace, unread := os.Readlink("/proc/self/ns/pid")
	if err != nil || owner.Pid != 1 || os.Getppid() != 1 || unread != nil || namespace == initialNamespace {
		return errors.Join(errOutside, err)
	}
	if err := hide(); err != nil {
		return err
	}
	unix.CloseOnExec(inherited)
	file := os.NewFile(inherited, Socket)
	listener, err := net.FileListener(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	// Idle ends every process of the container but the first one and this one, even those that left their
	// group and dropped their environment.
	server := &Server{Idle: func() { _ = unix.Kill(-1, unix.SIGKILL) }}
	if len(forward) == 0 {
		return server.Serve(ctx, listener)
	}
	ended := make(chan error, 2)
	go func() { ended <- egress.Forward(ctx, forward[1:], forward[0]) }()
	go func() { ended <- server.Serve(ctx, listener) }()
	return <-ended
}

// initialNamespace is where process ids are the machine's: the kernel gives the first namespace of
// processes the same number everywhere.
const initialNamespace = "pid:[4026531836]"
