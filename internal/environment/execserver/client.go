package execserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
)

// Client runs commands through the server whose socket is in Dir.
type Client struct {
	// Dir is the host's folder with the socket. Commands inside may write in it.
	Dir string
	// First is the container's first process, by its id on this machine. No other peer is trusted.
	First int
	// Mounts are the host paths to compare with what the container shows, by their path inside.
	Mounts map[string]string
	// Clock gives the start times of commands; nil means the system's.
	Clock func() time.Time
}

var _ process.Executor = (*Client)(nil)

// Exec implements process.Executor. It ignores Reads and Writes: what a container shows is decided when
// it is made.
func (c *Client) Exec(ctx context.Context, command process.Command) (process.Result, error) {
	if ctx.Err() != nil {
		return process.Result{ExitCode: -1, Ending: process.Stopped}, nil
	}
	if len(command.Args) == 0 {
		return process.Result{}, errNoProgram
	}
	return c.exec(ctx, command)
}

// errNoProgram: a command has no arguments.
var errNoProgram = errors.New("run in the container: no program given")

// Ready returns nil if the server answers and the container shows the right folders.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.exec(ctx, process.Command{Total: orderWait})
	return err
}

// exec sends an order and waits for its end; without Args it only asks whether the server would run it.
func (c *Client) exec(ctx context.Context, command process.Command) (process.Result, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return process.Result{}, err
	}
	defer func() { _ = conn.Close() }()
	var mounts []Mount // as the host's folders are now
	for inside, host := range c.Mounts {
		var stat unix.Stat_t
		err := unix.Stat(host, &stat)
		if errors.Is(err, unix.ENOENT) {
			return process.Result{}, fmt.Errorf("%w: %s is gone", ErrStale, host)
		}
		if err != nil {
			return process.Result{}, fmt.Errorf("look at %s: %w", host, err)
		}
		mounts = append(mounts, Mount{Path: inside, Device: stat.Dev, Inode: stat.Ino})
	}
	clock := c.Clock
	if clock == nil {
		clock = time.Now
	}
	call := &call{command: command, conn: conn, frames: &frames{to: conn}, clock: clock, started: clock()}
	o := order{Version: Version, Mounts: mounts, Args: command.Args, Dir: command.Dir, Env: command.Env, Input: command.Stdin != nil,
		Out: command.Stdout != nil, Err: command.Stderr != nil, Merged: same(command.Stdout, command.Stderr),
		Idle: command.Idle, Total: command.Total, Grace: command.Grace, Limit: command.OutputLimit, Reaches: command.Reaches}
	if command.Terminal != nil {
		o.Terminal = &command.Terminal.Size
	}
	if err := call.frames.sendJSON(kindOrder, o); err != nil {
		return process.Result{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return call.await(ctx)
}

// dial connects to the socket and asks the kernel who listens there. It opens the socket without
// following links, so that it is the one in Dir, and connects through the descriptor, because the address
// of a socket must be short.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	fd, err := unix.Open(filepath.Join(c.Dir, Socket), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: open its socket: %w", ErrUnavailable, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", "/proc/self/fd/"+strconv.Itoa(fd))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var peer *unix.Ucred
	var errPeer error
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			peer, errPeer = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		})
	}
	if err = errors.Join(err, errPeer); err == nil && int(peer.Pid) != c.First {
		err = fmt.Errorf("process %d listens there, not %d", peer.Pid, c.First)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, err), conn.Close())
	}
	return conn, nil
}

// same reports whether two writers are the same. Some kinds can't be compared.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}
