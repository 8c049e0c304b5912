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

// EnterName is the name (the last part of the zeroth argument) under which this program calls Enter
// and does nothing else.
const EnterName = "signalbox-enter"

// EnterArguments returns the arguments of a program called EnterName that listens at the addresses,
// hands the listeners over through its open file fd, and becomes the program of args.
func EnterArguments(fd int, addresses, args []string) []string {
	return append([]string{strconv.Itoa(fd), strings.Join(addresses, ",")}, args...)
}

// Enter is that program. It doesn't return: no process of ours stays beside the program of args, so
// its signals, its exit code and its open files are its own.
func Enter(ctx context.Context, args []string) {
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, EnterName+": only signalbox itself starts this program")
		os.Exit(2)
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		os.Exit(2)
	}
	unix.CloseOnExec(fd)
	err = Offer(ctx, fd, strings.Split(args[1], ","))
	if err == nil {
		var path string
		if path, err = exec.LookPath(args[2]); err == nil {
			err = syscall.Exec(path, args[2:], os.Environ())
		}
		err = fmt.Errorf("start %q: %w", args[2], err)
	}
	_ = unix.Sendto(fd, []byte(err.Error()), unix.MSG_NOSIGNAL, nil)
	os.Exit(127)
}

// Offer listens at the addresses in the network namespace of the calling program and hands the listeners
// over through its open file fd. They stay open at the other end.
func Offer(ctx context.Context, fd int, addresses []string) error {
	listeners, err := listen(ctx, addresses)
	if err != nil {
		return err
	}
	defer closeAll(listeners)
	var fds []int
	for _, l := range listeners {
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			return fmt.Errorf("hand over listeners: %w", err)
		}
		defer func() { _ = file.Close() }()
		fds = append(fds, int(file.Fd()))
	}
	if err := unix.Sendmsg(fd, []byte("listening"), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("hand over listeners: %w", err)
	}
	return nil
}
