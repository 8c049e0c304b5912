package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"signalbox/internal/process"

	"signalbox/internal/process/processtest"
)

// child is the command that runs one of children.
func child(name string, env ...string) process.Command {
	// With the race detector a program waits for a second before it exits, unless configured otherwise.
	return process.Command{
		Args: []string{os.Args[0]},
		Env:  append(env, "GORACE=atexit_sleep_ms=0", childVariable+"="+name),
	}
}

func run(t *testing.T, c process.Command) process.Result {
	t.Helper()
	result, err := process.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestResultSaysHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		child    string
		change   func(*process.Command)
		ending   process.Ending
		exitCode int
		signal   string
		// ready: the child must have said so before it's ended.
		ready bool
	}{
		{name: "an exit code is the program's own", child: "exit 3", ending: process.Exited, exitCode: 3},
		{name: "success is exit code 0", child: "print the folder", ending: process.Exited},
		{name: "a signal that nobody can prove to be ours is told by name", child: "kill itself",
			ending: process.Exited, exitCode: -1, signal: "SIGKILL"},
		{name: "a silent program is ended after Idle", child: "hang",
			change: func(c *process.Command) { c.Idle = 100 * time.Millisecond },
			ending: process.Idled, exitCode: -1, signal: "SIGTERM"},
		{name: "a talking program is ended after Total", child: "print for ever",
			change: func(c *process.Command) { c.Total, c.Idle = 300*time.Millisecond, time.Minute },
			ending: process.TimedOut, exitCode: -1, signal: "SIGTERM"},
		{name: "a program that ignores SIGTERM gets SIGKILL after Grace", child: "ignore SIGTERM",
			change: func(c *process.Command) { c.Idle, c.Grace = time.Second, 50*time.Millisecond },
			ending: process.Idled, exitCode: -1, signal: "SIGKILL", ready: true},
		{name: "a program that stopped itself still obeys SIGTERM", child: "stop itself",
			change: func(c *process.Command) { c.Idle, c.Grace = 200*time.Millisecond, time.Minute },
			ending: process.Idled, exitCode: -1, signal: "SIGTERM", ready: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := child(test.child)
			if test.change != nil {
				test.change(&c)
			}
			var out bytes.Buffer
			c.Stdout = &out
			got := run(t, c)
			for test.ready && !strings.HasPrefix(out.String(), "ready") { // it was ended before it began
				c.Idle *= 2
				out.Reset()
				got = run(t, c)
			}
			if got.Ending != test.ending || got.ExitCode != test.exitCode || got.Signal != test.signal {
				t.Errorf("got %+v, want %s, exit code %d, signal %q", got, test.ending, test.exitCode, test.signal)
			}
			if want := test.ending == process.Exited && test.exitCode == 0; got.OK() != want {
				t.Errorf("OK() = %t, want %t", got.OK(), want)
			}
			if got.Started.IsZero() || got.Duration <= 0 || got.MaxRSS < 1<<20 || got.CPU <= 0 {
				t.Errorf("incomplete measurements: %+v", got)
			}
		})
	}
}

func TestTalkingKeepsAProgramFromBeingIdle(t *testing.T) {
	t.Parallel()
	c := child("tick for ever")
	c.Idle, c.Total = 5*time.Second, 8*time.Second
	if got := run(t, c); got.Ending != process.TimedOut {
		t.Errorf("ending = %s, want %s", got.Ending, process.TimedOut)
	}
}

func TestTheEnvironmentIsExactlyTheOneGiven(t *testing.T) {
	t.Parallel()
	c := child("print the environment", "PATH=/nowhere", "B=2", "A=a b\tc", "EMPTY=")
	given := slices.Clone(c.Env)
	var out bytes.Buffer
	c.Stdout = &out
	run(t, c)
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != len(given)+1 || !slices.Equal(got[:len(given)], given) ||
		!strings.HasPrefix(got[len(given)], "SIGNALBOX_PROCESS=") {
		t.Errorf("environment = %q, want %q and the tag", got, given)
	}
	if !slices.Equal(c.Env, given) {
		t.Errorf("the caller's Env became %q", c.Env)
	}
}

func TestProgramRunsInTheGivenFolder(t *testing.T) {
	t.Parallel()
	c := child("print the folder")
	c.Dir = t.TempDir()
	var out bytes.Buffer
	c.Stdout = &out
	run(t, c)
	if got := strings.TrimSpace(out.String()); got != c.Dir {
		t.Errorf("ran in %q, want %q", got, c.Dir)
	}
}

func TestInputIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	file, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("line\n", 1<<18)
	tests := []struct {
		name  string
		stdin io.Reader
		want  int64
	}{
		{name: "none is an empty one", stdin: nil, want: 0},
		{name: "a reader is copied", stdin: strings.NewReader(long), want: int64(len(long))},
		{name: "a file is handed over", stdin: file, want: info.Size()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out counter
			c := child("cat")
			c.Stdin, c.Stdout = test.stdin, &out
			if got := run(t, c); !got.OK() || out.n != test.want {
				t.Errorf("got %d bytes and %+v, want %d bytes", out.n, got, test.want)
			}
		})
	}
}

func TestUnreadInputIsNoError(t *testing.T) {
	t.Parallel()
	c := child("exit 3")
	c.Stdin = strings.NewReader(strings.Repeat("unread", 1<<18))
	if got := run(t, c); got.ExitCode != 3 {
		t.Errorf("got %+v, want exit code 3", got)
	}
}

func TestBrokenInputIsAnError(t *testing.T) {
	t.Parallel()
	c := child("cat")
	c.Stdin = io.MultiReader(strings.NewReader("some"), broken{})
	if _, err := process.Run(t.Context(), c); !errors.Is(err, errBroken) {
		t.Errorf("error = %v, want %v", err, errBroken)
	}
}

func TestAStartErrorNamesTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/not-executable", []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		command process.Command
		is      error
		names   string
	}{
		{name: "a program that is not in PATH", names: "no-such-program", is: process.ErrNotFound,
			command: process.Command{Args: []string{"no-such-program"}, Env: []string{"PATH=/usr/bin:/bin"}}},
		{name: "a program when there is no PATH", names: "true", is: process.ErrNotFound,
			command: process.Command{Args: []string{"true"}}},
		{name: "a file that is not executable", names: "not-executable", is: process.ErrNotFound,
			command: process.Command{Args: []string{"not-executable"}, Env: []string{"PATH=" + dir}}},
		{name: "a program in a relative entry of PATH", names: "run.go", is: process.ErrNotFound,
			command: process.Command{Args: []string{"run.go"}, Env: []string{"PATH=.::"}}},
		{name: "a path to nothing", names: "/no/such/program", is: os.ErrNotExist,
			command: process.Command{Args: []string{"/no/such/program"}}},
		{name: "a folder that is not there", names: "/no/such/folder", is: os.ErrNotExist,
			command: process.Command{Args: []string{os.Args[0]}, Dir: "/no/such/folder"}},
		{name: "no arguments at all", names: "no arguments", command: process.Command{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := process.Run(t.Context(), test.command)
			if err == nil || !strings.Contains(err.Error(), test.names) {
				t.Fatalf("error = %v, want one that names %s", err, test.names)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error = %v, want %v", err, test.is)
			}
		})
	}
}

func TestProgramIsLookedUpInThePathOfEnv(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := processtest.WriteProgram(dir+"/ours", []byte("#!/bin/sh\nexit 7\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := process.Command{Args: []string{"ours"}, Env: []string{"PATH=/no/such/folder:" + dir}}
	if got := run(t, c); got.ExitCode != 7 {
		t.Errorf("got %+v, want exit code 7", got)
	}
}

func TestTheObserverHearsOfEachStart(t *testing.T) {
	t.Parallel()
	var seen []string
	host := process.Host{Observe: func(c process.Command, r process.Result) {
		seen = append(seen, c.Args[0]+" "+strconv.Itoa(r.ExitCode))
	}}
	if _, err := host.Exec(t.Context(), child("exit 3")); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Exec(t.Context(), process.Command{Args: []string{"no-such-program"}}); err == nil {
		t.Fatal("a missing program is no error")
	}
	if want := []string{os.Args[0] + " 3"}; !slices.Equal(seen, want) {
		t.Errorf("observed %q, want %q", seen, want)
	}
}

func TestCanceledContextStartsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := process.Run(ctx, child("print the folder"))
	if err != nil || got.Ending != process.Stopped || !got.Started.IsZero() {
		t.Errorf("got %+v, %v, want nothing started and stopped", got, err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error)  { return 0, errBroken }
func (broken) Write([]byte) (int, error) { return 0, errBroken }

// counter counts what it is given.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
