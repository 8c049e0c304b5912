package process_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/process"
)

// lifeline returns a variable that makes every child and grandchild hold a FIFO open, and the
// reading of it. It is at its end when all of them are dead; each of them has left an x in it.
func lifeline(t *testing.T) (variable string, heldBy func(processes int)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lifeline")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fifo.Close() })
	return lifelineVariable + "=" + path, func(processes int) {
		t.Helper()
		if err := fifo.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		crosses, err := io.ReadAll(fifo)
		if err != nil {
			t.Fatalf("somebody is still alive: %v", err)
		}
		if len(crosses) != processes {
			t.Errorf("the lifeline was held by %d processes, want %d", len(crosses), processes)
		}
	}
}

func TestNothingOfTheTreeIsLeft(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		child string
		given time.Duration
	}{
		{name: "a daemon in a session of its own is killed", child: "leave a daemon"},
		{name: "a sleeper that holds standard output is given a second", child: "leave a sleeper printing", given: time.Second},
		{name: "a daemon that holds standard output is given a second", child: "leave a daemon printing", given: time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// A busy machine may need a second for what nothing waits for, but not time and again.
			for chances := 20; ; chances-- {
				variable, heldBy := lifeline(t)
				c := child(test.child, variable)
				var out bytes.Buffer
				c.Stdout = &out
				begun := time.Now()
				got := run(t, c)
				took := time.Since(begun)
				if !got.OK() || !strings.Contains(out.String(), "done\n") {
					t.Errorf("got %q and %+v, want the program's own end", out.String(), got)
				}
				heldBy(2)
				if took < test.given || test.given == 0 && took >= time.Second && chances == 0 {
					t.Errorf("took %v, want %v", took, test.given)
				}
				if test.given > 0 || took < time.Second || chances == 0 {
					break
				}
			}
		})
	}
}

func TestManyTreesEndAtTheSameMoment(t *testing.T) {
	t.Parallel()
	variable, heldBy := lifeline(t)
	var runs sync.WaitGroup
	for range 10 {
		runs.Go(func() {
			if got, err := process.Run(t.Context(), child("leave a daemon", variable)); err != nil || !got.OK() {
				t.Errorf("got %+v, %v, want the program's own end", got, err)
			}
		})
	}
	runs.Wait()
	heldBy(20)
}

func TestProcessThatEscapedDoesNotHoldUpTheRun(t *testing.T) {
	t.Parallel()
	c := child("let a daemon escape")
	var out bytes.Buffer
	c.Stdout, c.Total = &out, time.Minute
	got := run(t, c)
	escaped, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || !got.OK() {
		t.Fatalf("got %q and %+v, want the process id of the daemon", out.String(), got)
	}
	if err := syscall.Kill(escaped, syscall.SIGKILL); err != nil {
		t.Errorf("it did not escape: %v", err)
	}
}

func TestStopEndsTheTree(t *testing.T) {
	t.Parallel()
	const (
		grace = time.Second
		long  = 10 * patience // which a test that waits for it doesn't survive
	)
	tests := []struct {
		name     string
		child    string
		signal   string
		exitCode int
		prints   string
		holders  int
		grace    time.Duration
	}{
		{name: "at once when it obeys", child: "hang", signal: "SIGTERM", exitCode: -1, holders: 1, grace: long},
		{name: "after it tidied up", child: "tidy up on SIGTERM", prints: "tidy\n", holders: 1, grace: long},
		{name: "after Grace when it does not obey", child: "ignore SIGTERM", signal: "SIGKILL", exitCode: -1, holders: 1, grace: grace},
		{name: "after Grace when a grandchild does not obey", child: "have a deaf grandchild", signal: "SIGTERM", exitCode: -1, holders: 2, grace: grace},
		{name: "with the daemon that left it", child: "have a daemon and hang", signal: "SIGTERM", exitCode: -1, holders: 2, grace: long},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			variable, heldBy := lifeline(t)
			c := child(test.child, variable)
			out := newAwaited("ready\n")
			c.Stdout, c.Grace = out, test.grace
			ctx, cancel := context.WithCancel(t.Context())
			stopped := make(chan time.Time, 1)
			go func() {
				<-out.seen
				stopped <- time.Now()
				cancel()
			}()
			got, err := process.Run(ctx, c)
			took := time.Since(<-stopped)
			if err != nil || got.Ending != process.Stopped || got.Signal != test.signal || got.ExitCode != test.exitCode {
				t.Errorf("got %+v, %v, want stopped by %q, exit code %d", got, err, test.signal, test.exitCode)
			}
			if atOnce := test.grace == long; atOnce && took > patience || !atOnce && took < grace {
				t.Errorf("took %v of %v", took, test.grace)
			}
			heldBy(test.holders)
			if !strings.HasSuffix(out.String(), test.prints) {
				t.Errorf("printed %q, want %q at the end", out.String(), test.prints)
			}
		})
	}
}

// awaited is a buffer that says when it was given a text.
type awaited struct {
	bytes.Buffer
	text string
	seen chan struct{}
}

func newAwaited(text string) *awaited { return &awaited{text: text, seen: make(chan struct{})} }

func (a *awaited) Write(p []byte) (int, error) {
	before := strings.Contains(a.String(), a.text)
	n, err := a.Buffer.Write(p)
	if !before && strings.Contains(a.String(), a.text) {
		close(a.seen)
	}
	return n, err
}

// startAndAwait starts a child outside of Run, and returns when it or what it runs is ready.
func startAndAwait(t *testing.T, c process.Command) *exec.Cmd {
	t.Helper()
	return startAndAwaitIn(t, c, 0)
}

// startAndAwaitIn is startAndAwait in namespaces of the child's own.
func startAndAwaitIn(t *testing.T, c process.Command, namespaces uintptr) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(c.Args[0])
	cmd.Env = c.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestProgramDiesWithTheOneThatRunsIt(t *testing.T) {
	t.Parallel()
	variable, heldBy := lifeline(t)
	runner := startAndAwait(t, child("run a child", variable))
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	heldBy(2)
}

func TestSweepKillsOnlyTaggedProcesses(t *testing.T) {
	t.Parallel()
	const tag = "SIGNALBOX_RUN_ID=20261120-210000-a1"
	variable, heldBy := lifeline(t)
	otherVariable, otherHeldBy := lifeline(t)
	runner := startAndAwait(t, child("have a daemon and hang", variable, tag))
	other := startAndAwait(t, child("hang", otherVariable, tag+"b", "COPY="+tag))
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	killed, err := process.Sweep(t.Context(), tag)
	if err != nil || killed != 1 {
		t.Errorf("Sweep = %d, %v, want 1 killed", killed, err)
	}
	heldBy(2)
	if err := other.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("the process with a longer tag is gone: %v", err)
	}
	otherHeldBy(1)
	if killed, err := process.Sweep(t.Context(), tag); err != nil || killed != 0 {
		t.Errorf("second Sweep = %d, %v, want nothing to do", killed, err)
	}
}

func TestSweepSparesItself(t *testing.T) {
	t.Parallel()
	if got := run(t, child("sweep by its own tag", ownTag)); !got.OK() {
		t.Errorf("got %+v, want it to survive its own sweep", got)
	}
}

func TestSweepRefusesATagThatIsNoAssignment(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"", "=", "PATH", "=x", "A=", "a b=c", "A=b\x00"} {
		if _, err := process.Sweep(t.Context(), tag); err == nil {
			t.Errorf("Sweep(%q) is no error", tag)
		}
	}
}

func TestSweepOrphansSparesProcessesWithALivingStarter(t *testing.T) {
	t.Parallel()
	const tag = "SIGNALBOX_PROJECT=/home/ada/words"
	variable, heldBy := lifeline(t)
	otherVariable, otherHeldBy := lifeline(t)
	runner := startAndAwait(t, child("run a child with a daemon", variable, tag))
	other := startAndAwait(t, child("run a child with a daemon", otherVariable, tag))
	if killed, err := process.SweepOrphans(t.Context(), tag); err != nil || killed != 0 {
		t.Errorf("SweepOrphans = %d, %v, want none killed while the starters live", killed, err)
	}
	killAndSweepOrphans(t, runner, tag)
	heldBy(3)
	if err := other.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the other runner is gone: %v", err)
	}
	killAndSweepOrphans(t, other, tag)
	otherHeldBy(3)
}

// killAndSweepOrphans leaves one daemon to the sweep; its parent dies of itself, sooner or later.
func killAndSweepOrphans(t *testing.T, runner *exec.Cmd, tag string) {
	t.Helper()
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if killed, err := process.SweepOrphans(t.Context(), tag); err != nil || killed < 1 || killed > 2 {
		t.Errorf("SweepOrphans = %d, %v, want the daemon killed", killed, err)
	}
}
