package egress

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// EnterName is the name (the last part of the zeroth argument) under which this program is to
// call Enter and do nothing else.
const EnterName = "signalbox-enter"

// EnterArguments returns the arguments of a program called EnterName that listens at the addresses,
// hands the listeners over through its open file number fd, and becomes the program of args.
func EnterArguments(fd int, addresses, args []string) []string {
	return append([]string{strconv.Itoa(fd), strings.Join(addresses, ",")}, args...)
}

// Enter is that program. It does not return: no process of ours stays beside the one that was
// asked for, so its signals, its exit code and its open files are its own.
func Enter(ctx context.Context, args []string) {
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, EnterName+": started by hand; it is a part of signalbox")
		os.Exit(2)
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		os.Exit(2)
	}
	unix.CloseOnExec(fd)
	err = enter(ctx, fd, strings.Split(args[1], ","), args[2:])
	_ = unix.Sendto(fd, []byte(err.Error()), unix.MSG_NOSIGNAL, nil)
	os.Exit(127)
}

// enter returns only what went wrong.
func enter(ctx context.Context, fd int, addresses, args []string) error {
	listeners, err := listen(ctx, addresses)
	if err != nil {
		return err
	}
	if err := handOver(fd, listeners); err != nil {
		return fmt.Errorf("hand over listeners: %w", err)
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("start %q: %w", args[0], err)
	}
	err = syscall.Exec(path, args, os.Environ())
	return fmt.Errorf("start %q: %w", args[0], err)
}

// Offer listens at the addresses in the network namespace of the calling program, whose loopback
// interface it may raise, and hands the listeners over through its open file number fd.
func Offer(ctx context.Context, fd int, addresses []string) error {
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("raise loopback interface: %w", err)
	}
	listeners, err := listen(ctx, addresses)
	if err != nil {
		return err
	}
	defer closeAll(listeners)
	if err := handOver(fd, listeners); err != nil {
		return fmt.Errorf("hand over listeners: %w", err)
	}
	return nil
}

func handOver(fd int, listeners []net.Listener) error {
	var fds []int
	for _, l := range listeners {
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		fds = append(fds, int(file.Fd()))
	}
	return unix.Sendmsg(fd, []byte("listening"), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
}
