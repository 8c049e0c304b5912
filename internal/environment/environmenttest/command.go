package environmenttest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"signalbox/internal/process"
)

var commandTests = []conformance{
	{"a command's exit code, output, errors and input are its own", testStreams},
	{"a command sits at a terminal of its own if it wants one", testTerminal},
	{"a command starts in the folder it names and in no other", testFolders},
	{"a program that is not there is an error that names it", testMissingProgram},
	{"a program that speaks like bwrap and fails is a program that failed", testImpostor},
	{"a command gets the allow-list, its own variables and nothing else", testVariables},
	{"HOME lasts, the temporary folder is new for each command", testHomes},
	{"a login shell finds the programs that it was started with", testLoginShell},
	{"a daemon is gone when its command has ended", testDaemon},
	{"a gigabyte of output is capped", testFlood},
	{"a stopped command ends within a second", testStop},
	{"a stopped command has time to tidy up", testTidy},
	{"a command that a signal ends shows it", testSignal},
	{"a file that a command asks for can be read and written", testRequests},
}

func testStreams(t *testing.T, s *site) {
	var stdout, stderr bytes.Buffer
	r, err := s.Exec(t.Context(), process.Command{
		Args:  []string{"sh", "-c", `cat; echo "$1" >&2; exit 7`, "sh", "a $(b) 'c'"},
		Stdin: strings.NewReader("input"), Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "exit code", r.ExitCode, 7)
	equal(t, "ending", r.Ending, process.Exited)
	equal(t, "output", stdout.String(), "input")
	equal(t, "errors", stderr.String(), "a $(b) 'c'\n")
}

func testTerminal(t *testing.T, s *site) {
	var out bytes.Buffer
	r, err := s.Exec(t.Context(), process.Command{
		Args:  []string{"sh", "-c", `test -t 0 && test -t 1 && test -t 2 && read line && echo "got $line" && exec stty size </dev/tty`},
		Stdin: strings.NewReader("typed\n"), Stdout: &out, Terminal: &process.Terminal{Size: process.TerminalSize{Rows: 31, Columns: 97}},
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "exit code", r.ExitCode, 0)
	equal(t, "what is on the screen", out.String(), "typed\r\ngot typed\r\n31 97\r\n")
}

func testFolders(t *testing.T, s *site) {
	for dir, want := range map[string]string{
		"": s.Dir(), "src": s.Dir() + "/src", s.Dir(): s.Dir(), s.Dir() + "/src": s.Dir() + "/src",
	} {
		var out bytes.Buffer
		if _, err := s.Exec(t.Context(), process.Command{Args: []string{"pwd"}, Dir: dir, Stdout: &out}); err != nil {
			t.Fatal(err)
		}
		equal(t, "folder of "+dir, strings.TrimSpace(out.String()), want)
	}
	for _, dir := range []string{"..", "src/../..", "/", "/etc", "missing"} {
		if _, err := s.Exec(t.Context(), process.Command{Args: []string{"true"}, Dir: dir}); err == nil {
			t.Errorf("a command ran in %q", dir)
		}
	}
}

func testMissingProgram(t *testing.T, s *site) {
	_, err := s.Exec(t.Context(), process.Command{Args: []string{"no-such-program"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("got error %v", err)
	}
}

func testImpostor(t *testing.T, s *site) {
	r, _ := s.run(t, "echo 'bwrap: Creating new namespace failed' >&2; exit 1")
	equal(t, "exit code", r.ExitCode, 1)
}

func testVariables(t *testing.T, s *site) {
	var out bytes.Buffer
	_, err := s.Exec(t.Context(), process.Command{Args: []string{"env"}, Env: []string{"SIGNALBOX_ROLE=planner"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range append([]string{"SIGNALBOX_ROLE=planner", "SIGNALBOX_ENV_ID=site", "SIGNALBOX_ENV_DIR=" + s.Dir()}, Variables...) {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing in %q", want, lines)
		}
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "SIGNALBOX_") && !slices.Contains([]string{"PATH", "HOME", "TMPDIR", "PWD"}, name) {
			t.Errorf("%s came in from this machine", line)
		}
		if s.Isolated && strings.Contains(line, s.Project.Root) {
			t.Errorf("%s names a folder that is not there inside", line)
		}
	}
	home, err := os.UserHomeDir()
	if err != nil || slices.Contains(lines, "HOME="+home) {
		t.Errorf("HOME is this machine's (%v)", err)
	}
}

func testHomes(t *testing.T, s *site) {
	s.must(t, `echo kept >"$HOME/file" && echo lost >"$TMPDIR/file"`)
	equal(t, "file in HOME", s.must(t, `cat "$HOME/file"; test ! -e "$TMPDIR/file"`), "kept\n")
	equal(t, "recorded", s.record(t, s.spec.Commit).Changed, false)
}

func testLoginShell(t *testing.T, s *site) {
	for _, shell := range []string{"sh", "bash"} {
		var out bytes.Buffer
		own := "/of/this/command:" + strings.TrimPrefix(Variables[0], "PATH=")
		r, err := s.Exec(t.Context(), process.Command{Args: []string{shell, "-lc", `echo "$PATH"`}, Env: []string{"PATH=" + own}, Stdout: &out})
		if err != nil || !strings.HasPrefix(out.String(), own) {
			t.Errorf("%s: PATH is %q (%v, %v)", shell, out.String(), r.ExitCode, err)
		}
	}
	s.must(t, `echo 'PATH=/of/the/set-up:$PATH' >>"$HOME/.profile"`)
	equal(t, "added to", strings.HasPrefix(s.must(t, `sh -lc 'echo "$PATH"'`), "/of/the/set-up:"), true)
}

func testDaemon(t *testing.T, s *site) {
	mark := fmt.Sprintf("100000.%d", mathrand.Int64())
	s.must(t, `mkfifo "$TMPDIR/up" && { setsid sh -c 'echo up >"$TMPDIR/up"; exec sleep '"$1" >/dev/null 2>&1 & } && read -r line <"$TMPDIR/up"`, mark)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		// A process that ended since is not running.
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(mark)) {
			t.Errorf("still running: %s", path)
		}
	}
}

// uniqueName returns the name of what only one test has.
func uniqueName() string { return rand.Text()[:12] }

// counter counts and forgets.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

func testFlood(t *testing.T, s *site) {
	var got counter
	r, err := s.Exec(t.Context(), process.Command{
		Args: []string{"head", "-c", "67108864", "/dev/zero"}, Stdout: &got, OutputLimit: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "bytes", got, 1<<20)
	equal(t, "truncated", r.Truncated, true)
	equal(t, "ending", r.OK(), true)
}

// signal closes up at the first write.
type signal struct {
	once sync.Once
	up   chan struct{}
}

func (s *signal) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.up) })
	return len(p), nil
}

// A busy machine may take more than a second to stop a command, but not each time.
func testStop(t *testing.T, s *site) {
	took := time.Duration(0)
	for range 5 {
		if took = stopped(t, s); took <= time.Second {
			return
		}
	}
	t.Errorf("stopping took %v", took)
}

// stopped is how long a command that ignores SIGTERM goes on after it was stopped.
func stopped(t *testing.T, s *site) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	up := &signal{up: make(chan struct{})}
	var stopped time.Time
	go func() {
		<-up.up
		stopped = time.Now()
		cancel(errors.New("stopped by a person"))
	}()
	r, err := s.Exec(ctx, process.Command{Args: []string{"sh", "-c", "trap '' TERM; echo up; sleep 1000"}, Stdout: up})
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	equal(t, "ending", r.Ending, process.Stopped)
	return time.Since(stopped)
}

func testTidy(t *testing.T, s *site) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	up := &signal{up: make(chan struct{})}
	go func() { <-up.up; cancel() }()
	var said bytes.Buffer
	r, err := s.Exec(ctx, process.Command{
		Args:   []string{"sh", "-c", "trap 'echo tidy >&2; exit 3' TERM; echo up; while :; do sleep 0.01; done"},
		Stdout: up, Stderr: &said, Grace: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "ending", r.Ending, process.Stopped)
	equal(t, "exit code", r.ExitCode, 3)
	// The sleep is asked to end, too, and a shell may say so.
	equal(t, "said", strings.HasSuffix(said.String(), "tidy\n"), true)
}

// A sandbox passes a signal on as a shell does.
func testSignal(t *testing.T, s *site) {
	r, _ := s.run(t, "kill -KILL $$")
	if r.Signal != "SIGKILL" && r.ExitCode != 128+9 {
		t.Errorf("got %+v", r)
	}
	equal(t, "ending", r.Ending, process.Exited)
}

func testRequests(t *testing.T, s *site) {
	dir := t.TempDir()
	read, write := filepath.Join(dir, "read"), filepath.Join(dir, "write")
	if err := os.WriteFile(read, []byte("shown"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(write, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := s.Exec(t.Context(), process.Command{
		Args: []string{"cp", read, write + "/copy"}, Reads: []string{read}, Writes: []string{write},
	})
	if err != nil || !r.OK() {
		t.Fatal(r, err)
	}
	if got, err := os.ReadFile(write + "/copy"); err != nil || string(got) != "shown" {
		t.Errorf("got %q, %v", got, err)
	}
}
