package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// needs skips a test that is not run by root or lacks a program; where CI=true a program must be there.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("needs %s", program)
		}
		t.Skipf("needs %s", program)
	}
}

// cutUpdate does one update on a thread of its own, because strace counts the
// calls of each thread, and says what came of it: "acknowledged", or "refused",
// whether as the errno that it was given and as ErrWrite, and the error.
func cutUpdate(ctx context.Context, s *Store, args []string) error {
	runtime.LockOSThread()
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	update, err := sweptUpdates[args[0]].begin(ctx, s)
	if err != nil {
		return err
	}
	asked := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		asked <- err
	}()
	fmt.Printf("ready %d\n", unix.Gettid())
	if err := <-asked; err != nil {
		return err
	}
	if err := update(); err != nil {
		fmt.Printf("refused %t %t %v\n", errors.Is(err, syscall.Errno(number)), errors.Is(err, ErrWrite), err)
		return nil
	}
	fmt.Println("acknowledged")
	return nil
}

// cut is what became of an update under strace.
type cut struct {
	said   string
	killed bool
	// calls are strace's lines, each a system call with its result.
	calls []string
}

// traced runs one update in a process of its own and strace on it, from right before the update on.
func traced(t *testing.T, s *Store, update string, errno syscall.Errno, options ...string) cut {
	t.Helper()
	cmd := unobserved(t, another(t, s, "cut", update, strconv.Itoa(int(errno))))
	// A preemption interrupts system calls, which are then repeated and would be counted twice.
	cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
	in, out := pipes(t, cmd)
	var tid int
	if _, err := fmt.Fscanf(out, "ready %d\n", &tid); err != nil {
		t.Fatalf("the process that updates is not ready: %v", err)
	}
	file := filepath.Join(t.TempDir(), "trace")
	strace := exec.CommandContext(t.Context(), "strace", append([]string{"-s", "64", "-o", file, "-p", strconv.Itoa(tid)}, options...)...)
	attach(t, strace)
	_ = in.Close()
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // how it ended is asked below
	_ = strace.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !status.Signaled() && status.ExitStatus() != 0 {
		t.Fatalf("the process that updates: %v", cmd.ProcessState)
	}
	trace, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return cut{strings.TrimSpace(string(said)), status.Signaled() && status.Signal() == syscall.SIGKILL, callsIn(string(trace))}
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, *bufio.Reader) {
	t.Helper()
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	return in, bufio.NewReader(out)
}

// attach starts strace and returns when it has its thread.
func attach(t *testing.T, strace *exec.Cmd) {
	t.Helper()
	messages, err := strace.StderrPipe()
	if err == nil {
		err = strace.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(messages)
	if line, err := lines.ReadString('\n'); !strings.Contains(line, "attached") {
		t.Fatalf("strace: %s %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
}

var callLine = regexp.MustCompile(`^([a-z][a-z0-9_]*)\(.*`)

func callsIn(trace string) (calls []string) {
	for line := range strings.Lines(trace) {
		if callLine.MatchString(line) {
			calls = append(calls, strings.TrimSpace(line))
		}
	}
	return calls
}

func nameOf(call string) string { name, _, _ := strings.Cut(call, "("); return name }

// ofRuntime are the calls by which the language's runtime works, as often as it sees fit.
var ofRuntime = []string{"futex", "mmap", "munmap", "madvise", "mprotect", "nanosleep", "clock_nanosleep", "sched_yield", "rt_sigprocmask",
	"rt_sigreturn", "tgkill", "getpid", "gettid", "epoll_pwait", "epoll_wait", "clone", "clone3", "restart_syscall", "exit_group"}

// point is the nth call of a name that an update makes, counted from 1.
type point struct {
	call string
	n    int
}

func (p point) String() string { return fmt.Sprintf("%s %d", p.call, p.n) }

// pointsOf runs an update undisturbed and lists its system calls, effect among them; acknowledging is the last.
func pointsOf(t *testing.T, s *Store, update, effect string) (points []point) {
	t.Helper()
	whole := traced(t, s, update, 0)
	counts := map[string]int{}
	for _, call := range whole.calls {
		name := nameOf(call)
		if slices.Contains(ofRuntime, name) {
			continue
		}
		counts[name]++
		points = append(points, point{name, counts[name]})
		if strings.HasPrefix(call, `write(1, "acknowledged`) && counts[effect] > 0 {
			return points
		}
	}
	t.Fatalf("not seen from beginning to end: said %q in %q", whole.said, whole.calls)
	return nil
}
