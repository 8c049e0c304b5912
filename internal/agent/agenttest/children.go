package agenttest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/agent"
)

// children checks that no process is left behind.
func (h Harness) children(t *testing.T) {
	t.Run("processes that a program leaves running end with it", func(t *testing.T) {
		t.Parallel()
		var daemon *os.File
		result, log := h.run(t, Leaves, func(task *agent.Task) { daemon = listen(t, task.Dir) })
		if result.Failure != nil || !strings.Contains(log, DaemonLine) {
			t.Fatalf("Failure = %+v, log %q", result.Failure, log)
		}
		gone(t, daemon)
	})
	t.Run("a canceled context ends the agent and all it started", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var log bytes.Buffer
		task := h.task(t, &log)
		var stopped time.Time
		task.Log = writer(func(p []byte) (int, error) {
			n, err := log.Write(p)
			if stopped.IsZero() && strings.Contains(log.String(), DaemonLine) {
				stopped = time.Now()
				cancel()
			}
			return n, err
		})
		daemon := listen(t, task.Dir)
		_, err := h.Agent(t, Stays).Run(ctx, task, h.Exec)
		if !errors.Is(err, context.Canceled) || stopped.IsZero() {
			t.Fatalf("Run = %v, want %v; log %q", err, context.Canceled, log.String())
		}
		t.Logf("stopped after %s", time.Since(stopped).Round(time.Millisecond))
		gone(t, daemon)
	})
	t.Run("nothing runs if the context was canceled before", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var log bytes.Buffer
		_, err := h.Agent(t, Answers).Run(ctx, h.task(t, &log), h.Exec)
		if !errors.Is(err, context.Canceled) || log.Len() > 0 {
			t.Errorf("Run = %v, want %v; log %q", err, context.Canceled, log.String())
		}
	})
}

// listen makes the FIFO that a daemon of Daemon holds open.
func listen(t *testing.T, dir string) *os.File {
	t.Helper()
	path := filepath.Join(dir, DaemonFIFO)
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fifo.Close() })
	return fifo
}

// gone checks that no process holds the FIFO open any more: then reading it ends. Run has returned, so only a busy machine can delay that.
func gone(t *testing.T, fifo *os.File) {
	t.Helper()
	if err := fifo.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := fifo.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a process of the agent is still there (read %d bytes, %v)", n, err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
