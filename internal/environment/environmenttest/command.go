package environmenttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/process"
)

var commandTests = []conformance{
	{"a command's exit code, output, errors and input are its own", testStreams},
	{"a command gets a terminal of its own if it asks for one", testTerminal},
	{"a command starts in the folder it names and in no other", testFolders},
	{"a missing program is an error that names it; one that fails or is killed is none", testEndings},
	{"a command gets the allow-list, its own variables and nothing else", testVariables},
	{"a login shell finds the programs that it was started with", testLoginShell},
	{"a daemon ends with its command", testDaemon},
	{"a gigabyte of output is capped", testFlood},
	{"a stopped command ends within a second, or has time to tidy up", testStop},
	{"a command reads and writes the files that it asks for, and no more", testRequests},
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
	equal(t, "screen", out.String(), "typed\r\ngot typed\r\n31 97\r\n")
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

// testEndings runs programs that end in ways which a driver could take for one another. bwrap speaks alike when it can't build a
// sandbox, and a sandbox passes a signal on as a shell does.
func testEndings(t *testing.T, s *site) {
	if _, err := s.Exec(t.Context(), process.Command{Args: []string{"no-such-program"}}); err == nil || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("a missing program: got error %v", err)
	}
	r, _ := s.run(t, "echo 'bwrap: Creating new namespace failed' >&2; exit 1")
	equal(t, "exit code of a program that fails like bwrap", r.ExitCode, 1)
	r, _ = s.run(t, "kill -KILL $$")
	if r.Signal != "SIGKILL" && r.ExitCode != 128+9 {
		t.Errorf("a killed program: got %+v", r)
	}
	equal(t, "ending of a killed program", r.Ending, process.Exited)
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
			t.Errorf("%s names a folder that doesn't exist inside", line)
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
	s.must(t, `echo 'PATH=/of/the/setup:$PATH' >>"$HOME/.profile"`)
	equal(t, "added to", strings.HasPrefix(s.must(t, `sh -lc 'echo "$PATH"'`), "/of/the/setup:"), true)
}

func testDaemon(t *testing.T, s *site) {
	mark := fmt.Sprintf("100000.%d", mathrand.Int64())
	s.must(t, `mkfifo "$TMPDIR/up" && { setsid sh -c 'echo up >"$TMPDIR/up"; exec sleep '"$1" >/dev/null 2>&1 & } && read -r line <"$TMPDIR/up"`, mark)
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range lines {
		// If the file is gone, the process has ended.
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte(mark)) {
			t.Errorf("still running: %s", path)
		}
	}
}

func testFlood(t *testing.T, s *site) {
	var got bytes.Buffer
	r, err := s.Exec(t.Context(), process.Command{
		Args: []string{"head", "-c", "67108864", "/dev/zero"}, Stdout: &got, OutputLimit: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "bytes", got.Len(), 1<<20)
	equal(t, "truncated", r.Truncated, true)
	equal(t, "ending", r.OK(), true)
}

func testStop(t *testing.T, s *site) {
	const ignores, tidies = "trap '' TERM; echo up; sleep 1000", "trap 'echo tidy >&2; exit 3' TERM; echo up; while :; do sleep 0.01; done"
	var took time.Duration
	for range 5 { // a busy machine may take more than a second, but not each time
		if _, took, _ = s.stopped(t, ignores, 0); took <= time.Second {
			break
		}
	}
	if took > time.Second {
		t.Errorf("stopping took %v", took)
	}
	r, _, said := s.stopped(t, tidies, time.Minute)
	equal(t, "exit code", r.ExitCode, 3)
	// The sleep gets the signal, too, and a shell may report that.
	equal(t, "last line of "+said, strings.HasSuffix(said, "tidy\n"), true)
}

// stopped stops a script once it has printed something, and returns the time until its end and its standard error.
func (s *site) stopped(t *testing.T, script string, grace time.Duration) (r process.Result, took time.Duration, said string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	up, stdout := io.Pipe()
	defer func() { _ = stdout.Close() }()
	var stopped time.Time
	go func() {
		_, _ = up.Read(make([]byte, 1))
		stopped = time.Now()
		cancel(errors.New("stopped by a person"))
		_, _ = io.Copy(io.Discard, up)
	}()
	var stderr bytes.Buffer
	r, err := s.Exec(ctx, process.Command{Args: []string{"sh", "-c", script}, Stdout: stdout, Stderr: &stderr, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	equal(t, "ending", r.Ending, process.Stopped)
	return r, time.Since(stopped), stderr.String()
}

func testRequests(t *testing.T, s *site) {
	dir := t.TempDir()
	read, write := filepath.Join(dir, "read"), filepath.Join(dir, "write")
	if err := os.WriteFile(read, []byte("shown"), 0o666); err != nil {
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
	if !s.Isolated {
		return
	}
	r, err = s.Exec(t.Context(), process.Command{Args: []string{"sh", "-c", `echo x >"$1"`, "sh", read}, Reads: []string{read}})
	if err != nil || r.OK() {
		t.Errorf("writing a file to read was not refused: %v, %v", r, err)
	}
	if got, err := os.ReadFile(read); err != nil || string(got) != "shown" {
		t.Errorf("got %q, %v", got, err)
	}
}
