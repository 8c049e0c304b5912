package session

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
)

// tmuxServerOf gives a test a tmux of its own; in CI it may not be missing.
func tmuxServerOf(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing")
		}
		t.Skip("tmux is missing")
	}
	socket := "signalbox-test-" + rand.Text()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		_ = exec.CommandContext(ctx, "tmux", "-L", socket, "kill-server").Run() // which may be gone already
	})
	return socket
}

func inTmux(t *testing.T, issue int, script string) Config {
	c := shell(issue, Tmux, script)
	c.TmuxSocket = tmuxServerOf(t)
	return c
}

func TestSessionInTmuxIsShownThereAndHeardByUs(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	c := inTmux(t, 42, "echo ready; while read line; do echo heard $line; test $line = two && echo '"+done+"'; done")
	x := started(t, s, c)
	ours, _, _ := attached(t, x, process.TerminalSize{Rows: 30, Columns: 90}, "ready")

	info, err := x.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := newPerson(t)
	typed, typing := io.Pipe()
	client := process.Command{Args: info.TmuxArgs(), Env: append([]string{"TERM=xterm"}, os.Environ()...), Stdin: typed, Stdout: shown,
		Terminal: &process.Terminal{Size: process.TerminalSize{Rows: 30, Columns: 100}}}
	left := make(chan error, 1)
	go func() { _, err := process.Run(t.Context(), client); left <- err }()
	shown.sees(t, "ready")
	if _, err := io.WriteString(typing, "one\r"); err != nil {
		t.Fatal(err)
	}
	ours.sees(t, "heard one")
	ours.types(t, "two\r")
	shown.sees(t, "heard two")
	if err := errors.Join(typing.Close(), <-left); err != nil {
		t.Error(err)
	}
	if info := waited(t, x); info.Outcome.Kind != terminal.Complete {
		t.Errorf("came to %+v", info.Outcome)
	}
}

func TestKilledTmuxServerIsASessionThatIsGone(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string][]string{"asked to end": {"kill-server"}, "its session ended": {"kill-session", "-t", "=signalbox-issue-42"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSessions(t)
			c := inTmux(t, 42, family)
			x := started(t, s, c)
			list := pids(t, x)
			if out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-L", c.TmuxSocket}, kill...)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			info := ended(t, x)
			if info.Outcome.Kind != terminal.Error || info.Outcome.Source != Gone || !strings.HasPrefix(info.Outcome.Message, Unexpected) {
				t.Errorf("came to %+v", info.Outcome)
			}
			gone(t, list...)
		})
	}
}

// Sessions 4 and 42 share a server; ending the window of one leaves the other.
func TestSessionsInTmuxAreTargetedExactly(t *testing.T) {
	t.Parallel()
	s := newSessions(t)
	c := inTmux(t, 42, "read line")
	x := started(t, s, c)
	other := c
	other.Issue = 4
	four := started(t, s, other)
	if err := four.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	// 4 is gone, and its name is the beginning of 42's.
	info, err := four.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	target := info.TmuxArgs()
	// tmux sees the end of a window's program when it comes to it, and tells nobody.
	for ctx := within(t); ; runtime.Gosched() {
		has := exec.CommandContext(t.Context(), target[0], "-L", c.TmuxSocket, "has-session", target[len(target)-2], target[len(target)-1])
		if has.Run() != nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the target %q of 4 is still found", target)
		}
	}
	if info, err := x.Info(t.Context()); err != nil || info.EndedAt != nil || unix.Kill(info.HostPID, 0) != nil {
		t.Errorf("42 is %+v, %v", info, err)
	}
}
