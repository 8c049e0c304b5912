package perform

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"

	"signalbox/internal/git"
	"signalbox/internal/process"
)

// passing are the errors that may be gone by themselves in a minute. Everything else is taken for permanent: a
// person who is told at once what is wrong loses nothing by it, while four silent tries cost a minute and end with
// the same words. EIO is not among them, for who writes again to a disk that fails may lose more.
var passing = []error{
	git.ErrLocked, git.ErrRefMoved, git.ErrUnreachable, // another git program, or the network
	context.DeadlineExceeded, process.ErrUnkillable, // the machine was too busy
	io.ErrUnexpectedEOF, net.ErrClosed, // the other side went away
	syscall.EAGAIN, syscall.EBUSY, syscall.EINTR, syscall.ETXTBSY, syscall.ESTALE,
	syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, // other programs use them up for now
	syscall.ETIMEDOUT, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	syscall.ENETUNREACH, syscall.ENETDOWN, syscall.EHOSTUNREACH,
}

// mayPass reports whether an action that ended with err is worth another try unasked.
func mayPass(err error) bool {
	for _, p := range passing {
		if errors.Is(err, p) {
			return true
		}
	}
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
