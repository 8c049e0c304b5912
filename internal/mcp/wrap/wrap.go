// Package wrap stands between an agent and the MCP server of container-use. It passes every byte on unchanged, and has each call of an
// environment's tool recorded: before the server gets it, and before the agent sees the answer.
package wrap

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"signalbox/internal/containeruse"
)

// Recorder records calls of an environment's tools.
type Recorder interface {
	Called(context.Context, containeruse.Call) error
	Answered(context.Context, containeruse.Done) error
}

// maxLine is the longest message that is followed, in bytes; a longer one only passes.
const maxLine = 8 << 20

// Config is what a wrapper needs.
type Config struct {
	// Server is the program that serves, with its arguments.
	Server   []string
	In       io.Reader
	Out, Err io.Writer
	Recorder Recorder
	// Warn says what couldn't be recorded.
	Warn func(error)
}

// Run starts the server and passes on what it and the client say until the server ends, and returns its exit code. SIGINT, SIGTERM and SIGHUP
// are the server's to answer. If the client closes its side, the server finds its input at an end.
func Run(ctx context.Context, c Config) (code int, err error) {
	server := exec.CommandContext(context.WithoutCancel(ctx), c.Server[0], c.Server[1:]...)
	server.Stderr = c.Err
	in, inErr := server.StdinPipe()
	out, outErr := server.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", c.Server[0], err)
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = server.Process.Signal(s)
			case <-ended:
				return
			}
		}
	}()
	f := follower{Config: c}
	go func() {
		_ = pass(c.In, in, func(line []byte) { f.sent(ctx, line) })
		_ = in.Close()
	}()
	passErr := pass(out, c.Out, func(line []byte) { f.answered(ctx, line) })
	if passErr != nil { // the client is gone
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
	}
	err = server.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}

// pass copies lines as they come, each after it was seen. A line that is too long only passes.
func pass(from io.Reader, to io.Writer, see func([]byte)) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	for long := false; ; {
		part, err := lines.ReadSlice('\n')
		line = append(line, part...)
		ended := err != bufio.ErrBufferFull
		if ended && !long {
			see(line)
		}
		if ended || long || len(line) > maxLine {
			if _, err := to.Write(line); err != nil {
				return err
			}
			line, long = line[:0], !ended
		}
		if ended && err != nil {
			return nil
		}
	}
}

// follower is used by both directions.
type follower struct {
	Config
	mu sync.Mutex
	containeruse.Follower
}

func (f *follower) sent(ctx context.Context, line []byte) {
	f.mu.Lock()
	calls := f.Sent(line)
	f.mu.Unlock()
	for _, call := range calls {
		if err := f.Recorder.Called(ctx, call); err != nil {
			f.Warn(fmt.Errorf("record %s: %w", call.Tool, err))
		}
	}
}

func (f *follower) answered(ctx context.Context, line []byte) {
	f.mu.Lock()
	done := f.Answered(line)
	f.mu.Unlock()
	for _, d := range done {
		if err := f.Recorder.Answered(ctx, d); err != nil {
			f.Warn(fmt.Errorf("record %s: %w", d.Tool, err))
		}
	}
}
