package execserver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"signalbox/internal/environment/execserver"
	"signalbox/internal/process"
)

var path = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}

// served is a client of a server in this process.
func served(t testing.TB) *execserver.Client {
	t.Helper()
	dir := t.TempDir()
	l := listen(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- (&execserver.Server{}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &execserver.Client{Dir: dir, First: os.Getpid()}
}

// listen makes the socket in dir, whose path may be longer than an address.
func listen(t testing.TB, dir string) net.Listener {
	t.Helper()
	short, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(short, "s"))
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Rename(filepath.Join(short, "s"), filepath.Join(dir, execserver.Socket)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(); _ = os.Remove(short) })
	return l
}

func sh(script string, args ...string) process.Command {
	return process.Command{Args: append([]string{"sh", "-c", script, "sh"}, args...), Env: path, Dir: "/"}
}

func TestACommandIsAsItWouldBeHere(t *testing.T) {
	t.Parallel()
	client := served(t)
	var stdout, stderr bytes.Buffer
	c := sh(`cat; echo "$1" "$TMPDIR" >&2; pwd; exit 7`, "a $(b)")
	c.Stdin, c.Stdout, c.Stderr, c.Dir = strings.NewReader("input"), &stdout, &stderr, "/usr"
	r, err := client.Exec(t.Context(), c)
	if err != nil || r.ExitCode != 7 || r.Ending != process.Exited || r.Started.IsZero() || r.Duration <= 0 || r.MaxRSS == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if stdout.String() != "input/usr\n" || !strings.HasPrefix(stderr.String(), "a $(b) /tmp/signalbox-") {
		t.Errorf("printed %q and %q", stdout.String(), stderr.String())
	}
}

func TestOneWriterForBothGetsThemInOrder(t *testing.T) {
	t.Parallel()
	var both bytes.Buffer
	c := sh("for i in 1 2 3 4; do echo o$i; echo e$i >&2; done")
	c.Stdout, c.Stderr = &both, &both
	if _, err := served(t).Exec(t.Context(), c); err != nil || both.String() != "o1\ne1\no2\ne2\no3\ne3\no4\ne4\n" {
		t.Errorf("got %q, %v", both.String(), err)
	}
}

func TestInputOfAnySizePassesAndMayBeLeftUnread(t *testing.T) {
	t.Parallel()
	client, big := served(t), bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	var out bytes.Buffer
	c := sh("cat")
	c.Stdin, c.Stdout = bytes.NewReader(big), &out
	if r, err := client.Exec(t.Context(), c); err != nil || !r.OK() || !bytes.Equal(out.Bytes(), big) {
		t.Errorf("got %d bytes, %+v, %v", out.Len(), r, err)
	}
	c = sh("head -c 1")
	c.Stdin = bytes.NewReader(big)
	if r, err := client.Exec(t.Context(), c); err != nil || !r.OK() {
		t.Errorf("unread: %+v, %v", r, err)
	}
	never, _ := io.Pipe()
	c = sh("true")
	c.Stdin = never
	if r, err := client.Exec(t.Context(), c); err != nil || !r.OK() {
		t.Errorf("silent: %+v, %v", r, err)
	}
}

// told closes its channel at the first write.
type told struct{ up chan struct{} }

func (w *told) Write(p []byte) (int, error) {
	select {
	case <-w.up:
	default:
		close(w.up)
	}
	return len(p), nil
}

func TestAStoppedCommandIsAskedFirstAlthoughItsInputIsStuck(t *testing.T) {
	t.Parallel()
	client := served(t)
	ctx, cancel := context.WithCancel(t.Context())
	up := &told{make(chan struct{})}
	var stderr bytes.Buffer
	c := sh("trap 'echo asked >&2; exit 3' TERM; echo up; while :; do sleep 0.05; done")
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(make([]byte, 64<<20)), up, &stderr
	go func() { <-up.up; cancel() }()
	r, err := client.Exec(ctx, c)
	if err != nil || r.Ending != process.Stopped || r.ExitCode != 3 || !strings.HasSuffix(stderr.String(), "asked\n") {
		t.Errorf("got %+v, %v, %q", r, err, stderr.String())
	}
}

func TestLimitsAreKeptInside(t *testing.T) {
	t.Parallel()
	client := served(t)
	for name, test := range map[string]struct {
		c    process.Command
		want process.Ending
	}{
		"total": {process.Command{Args: []string{"sleep", "1000"}, Total: 20 * time.Millisecond}, process.TimedOut},
		"idle":  {process.Command{Args: []string{"sleep", "1000"}, Idle: 20 * time.Millisecond}, process.Idled},
	} {
		test.c.Env = path
		if r, err := client.Exec(t.Context(), test.c); err != nil || r.Ending != test.want {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
	var out bytes.Buffer
	c := sh("head -c 10000000 /dev/zero")
	c.Stdout, c.OutputLimit = &out, 1000
	if r, err := client.Exec(t.Context(), c); err != nil || !r.OK() || !r.Truncated || out.Len() != 1000 {
		t.Errorf("output: got %+v, %v, %d", r, err, out.Len())
	}
}

func TestAStartErrorNamesTheProgram(t *testing.T) {
	t.Parallel()
	client := served(t)
	for _, c := range []process.Command{{Args: []string{"no-such-program"}, Env: path}, {Args: []string{"true"}, Dir: "/missing", Env: path}} {
		r, err := client.Exec(t.Context(), c)
		if err == nil || !r.Started.IsZero() || !strings.Contains(err.Error(), c.Args[0]) {
			t.Errorf("%q: got %+v, %v", c.Args, r, err)
		}
	}
}

func TestAFolderThatWasReplacedIsNotWorkedIn(t *testing.T) {
	t.Parallel()
	client := served(t)
	there, other := t.TempDir(), t.TempDir()
	client.Mounts = map[string]string{there: there}
	if r, err := client.Exec(t.Context(), sh("true")); err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	client.Mounts = map[string]string{there: other}
	if _, err := client.Exec(t.Context(), sh("touch "+there+"/x")); !errors.Is(err, execserver.ErrStale) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(there); err != nil || len(left) != 0 {
		t.Errorf("a command ran: %v, %v", left, err)
	}
}

func TestAProgramGetsATerminalThatChangesItsSize(t *testing.T) {
	t.Parallel()
	up, resize := &told{make(chan struct{})}, make(chan process.TerminalSize)
	var out bytes.Buffer
	c := sh(`test -t 0 && test -t 1 || exit 9; trap 'stty size; exit 5' WINCH; echo up; while :; do sleep 0.05; done`)
	c.Stdout, c.Terminal = io.MultiWriter(up, &out), &process.Terminal{Size: process.TerminalSize{Rows: 31, Columns: 97}, Resize: resize}
	go func() {
		<-up.up
		resize <- process.TerminalSize{Rows: 50, Columns: 132}
	}()
	r, err := served(t).Exec(t.Context(), c)
	if err != nil || r.ExitCode != 5 || !strings.Contains(out.String(), "50 132") {
		t.Errorf("got %+v, %v, %q", r, err, out.String())
	}
}
