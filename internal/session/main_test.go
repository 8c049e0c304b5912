package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
	"signalbox/internal/session/terminal"
	"signalbox/internal/store"
)

// The test binary is the host of sessions, the agent's "signalbox report", or a starter, by how it is called.
const roleVariable = "SESSION_TEST_ROLE"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == HostName {
		os.Exit(Host(context.Background(), os.Args[1:], HostConfig{Clock: time.Now, Entrance: entrance, Publish: publish}))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var err error
	switch role, message, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "":
		os.Exit(m.Run())
	case "report":
		kind, text, _ := strings.Cut(message, " ")
		err = Report(ctx, os.Getenv, terminal.Word{Kind: terminal.Kind(kind), Message: text})
	case "start":
		err = startAndWait(ctx, message)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// startAndWait is a starter that says so and waits to be killed.
func startAndWait(ctx context.Context, root string) error {
	if err := process.DropInherited(); err != nil { // as the program does first
		return err
	}
	st, err := store.Open(ctx, store.Config{Root: root})
	if err != nil {
		return err
	}
	s := &Sessions{Root: root, Store: st, Clock: time.Now}
	if _, err = s.Start(ctx, shell(42, Terminal, "read line; echo '"+done+"'")); err != nil {
		return err
	}
	fmt.Println("started")
	<-ctx.Done()
	return ctx.Err()
}

func newSessions(t testing.TB) *Sessions {
	t.Helper()
	root := t.TempDir()
	st, err := store.Open(t.Context(), store.Config{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s := &Sessions{Root: root, Store: st, Clock: time.Now}
	t.Cleanup(func() { stopAll(t, s) })
	return s
}

// stopAll ends what a test left, many at a time: a benchmark leaves a thousand.
func stopAll(t testing.TB, s *Sessions) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	names, err := s.Store.Sessions(ctx)
	if err != nil {
		t.Error(err)
	}
	var stopping sync.WaitGroup
	places := make(chan struct{}, 16)
	for _, name := range names {
		places <- struct{}{}
		stopping.Go(func() {
			defer func() { <-places }()
			x, err := s.Open(ctx, name)
			if err == nil {
				err = x.Stop(ctx)
			}
			if err != nil && !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		})
	}
	stopping.Wait()
}

func shell(issue int, mode Mode, script string, args ...string) Config {
	return Config{Issue: issue, Agent: "shell", Mode: mode, Args: append([]string{"sh", "-c", script, "agent"}, args...), Grace: 200 * time.Millisecond,
		Env: []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "LC_ALL=C.UTF-8"}}
}

func started(t testing.TB, s *Sessions, c Config) *Session {
	t.Helper()
	if _, err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	x, err := s.Open(t.Context(), c.name())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func waited(t testing.TB, x *Session) Info {
	t.Helper()
	info, err := x.Wait(within(t), func(Info) {})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// ended waits for the end of the agent, not just for its word.
func ended(t testing.TB, x *Session) Info {
	t.Helper()
	ctx := within(t)
	events, err := x.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var last Info
	for e := range events {
		if e.Info != nil {
			last = *e.Info
		}
	}
	if last.EndedAt == nil {
		t.Fatalf("the session has not ended: %+v", last)
	}
	return last
}

func output(t testing.TB, x *Session) string { t.Helper(); return readAll(t, x.Output) }

func readText(t testing.TB, x *Session) string { t.Helper(); return readAll(t, x.Text) }

func readAll(t testing.TB, open func() (io.ReadCloser, error)) string {
	t.Helper()
	r, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// person is one at a terminal: what is shown is kept, and can be waited for.
type person struct {
	mu      sync.Mutex
	shown   bytes.Buffer
	changed chan struct{}
	typed   *os.File
	keys    *os.File
}

func newPerson(t testing.TB) *person {
	t.Helper()
	keys, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close(); _ = typed.Close() })
	return &person{changed: make(chan struct{}, 1), keys: keys, typed: typed}
}

func (p *person) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
	return p.shown.Write(b)
}

func (p *person) sees(t testing.TB, text string) {
	t.Helper()
	ctx := within(t)
	for {
		p.mu.Lock()
		seen := strings.Contains(p.shown.String(), text)
		p.mu.Unlock()
		if seen {
			return
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			t.Fatalf("%q is not shown, but %q", text, p.shown.String())
		}
	}
}

func (p *person) types(t testing.TB, text string) {
	t.Helper()
	if _, err := p.typed.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

type leaving struct {
	detached bool
	err      error
}

func (p *person) attach(t testing.TB, x *Session, size process.TerminalSize) (left <-chan leaving, resize chan<- process.TerminalSize) {
	t.Helper()
	ended, sizes := make(chan leaving, 1), make(chan process.TerminalSize)
	go func() {
		detached, err := x.Attach(t.Context(), Attachment{In: p.keys, Out: p, Size: size, Resize: sizes})
		ended <- leaving{detached, err}
	}()
	return ended, sizes
}

// watched is what a session tells, for as long as the test may take.
func watched(t testing.TB, x *Session) <-chan Event {
	t.Helper()
	events, err := x.Watch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// attached attaches to a session and returns once the terminal shows a text.
func attached(t testing.TB, x *Session, size process.TerminalSize, shows string) (p *person, left <-chan leaving, resize chan<- process.TerminalSize) {
	t.Helper()
	p = newPerson(t)
	left, resize = p.attach(t, x, size)
	p.sees(t, shows)
	return p, left, resize
}

// gone waits for the end of processes that are not ours to wait for.
func gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 120_000)
		_ = unix.Close(fd)
		if n != 1 {
			t.Errorf("process %d lives (%v)", pid, err)
		}
	}
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	done   = "###TASK_COMPLETE_42###"
	failed = "###TASK_ERROR_42###"
)
