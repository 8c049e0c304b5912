package execserver

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"signalbox/internal/process"
)

const (
	// patience is the server's time beyond a command's own limits, to kill, sweep and report.
	patience = 10 * time.Second
	// lastInput is how long the end of a command waits for the Reader of its input.
	lastInput = 50 * time.Millisecond
)

// call is one running command, seen from the client.
type call struct {
	command process.Command
	conn    net.Conn
	frames  *frames
	clock   func() time.Time
	started time.Time

	left  int64 // bytes of output that may still be passed on
	cut   bool
	wrote error // of a Writer; ends the output

	idle   *time.Timer
	cancel sync.Once
}

// await returns when the command has ended, or has outlived its limits and patience.
func (c *call) await(ctx context.Context) (process.Result, error) {
	defer context.AfterFunc(ctx, c.stop)()
	defer c.hangUpAfter(c.command.Total).Stop()
	c.idle = c.hangUpAfter(c.command.Idle)
	defer c.idle.Stop()
	if c.left = c.command.OutputLimit; c.left == 0 {
		c.left = math.MaxInt64
	}
	more, done, fed := make(chan struct{}, window), make(chan struct{}), make(chan error, 1)
	for range window {
		more <- struct{}{}
	}
	if c.command.Stdin != nil {
		go func() { fed <- feed(c.command.Stdin, c.frames, more, done) }()
	}
	if c.command.Terminal != nil && c.command.Terminal.Resize != nil {
		go c.followSize(done)
	}
	result, err := c.receive(more)
	close(done)
	if c.command.Stdin != nil && err == nil {
		select {
		case err = <-fed:
		case <-time.After(lastInput): // Read has not returned; its result no longer matters
		}
	}
	if ctx.Err() != nil && errors.Is(err, ErrLost) {
		result.Ending = process.Stopped
	}
	return result, errors.Join(err, c.wrote)
}

// stop asks the server to end the command, and closes the connection if it doesn't.
func (c *call) stop() {
	c.cancel.Do(func() {
		grace := c.command.Grace
		if grace == 0 {
			grace = process.DefaultGrace
		}
		time.AfterFunc(grace+patience, func() { _ = c.conn.Close() })
		_ = c.frames.send(kindCancel, nil)
	})
}

// hangUpAfter returns a timer for a limit that the server should enforce; zero means no limit.
func (c *call) hangUpAfter(limit time.Duration) *time.Timer {
	wait := time.Duration(math.MaxInt64)
	if limit != 0 {
		wait = limit + patience
	}
	return time.AfterFunc(wait, c.stop)
}

// followSize forwards new sizes of the terminal.
func (c *call) followSize(done <-chan struct{}) {
	for {
		select {
		case size, open := <-c.command.Terminal.Resize:
			if !open {
				return
			}
			payload := binary.BigEndian.AppendUint16(nil, size.Rows)
			_ = c.frames.send(kindSize, binary.BigEndian.AppendUint16(payload, size.Columns))
		case <-done:
			return
		}
	}
}

// receive reads frames until the command's end.
func (c *call) receive(more chan<- struct{}) (process.Result, error) {
	from := &reader{from: c.conn}
	for {
		k, payload, err := from.next()
		if err != nil {
			return c.lost(err)
		}
		switch k {
		case kindOut:
			c.pass(c.command.Stdout, payload)
		case kindErr:
			c.pass(c.command.Stderr, payload)
		case kindMore:
			select {
			case more <- struct{}{}:
			default:
				return c.lost(errFrame)
			}
		case kindEnd:
			return c.end(payload)
		case kindFailed:
			var f failure
			if err := json.Unmarshal(payload, &f); err != nil {
				return c.lost(fmt.Errorf("%w: %w", errFrame, err))
			}
			if f.Stale {
				return process.Result{}, fmt.Errorf("%w: %s", ErrStale, clean(f.Message))
			}
			return process.Result{}, fmt.Errorf("in the container: %s", clean(f.Message))
		default:
			return c.lost(errFrame)
		}
	}
}

// pass writes output, up to the command's limit. The server enforces the limit too, but isn't trusted.
func (c *call) pass(to io.Writer, p []byte) {
	if c.command.Idle != 0 {
		c.idle.Reset(c.command.Idle + patience)
	}
	if int64(len(p)) > c.left {
		p, c.cut = p[:c.left], true
	}
	c.left -= int64(len(p))
	if len(p) == 0 || to == nil || c.wrote != nil {
		return
	}
	if _, err := to.Write(p); err != nil {
		c.wrote = fmt.Errorf("write output: %w", err)
	}
}
