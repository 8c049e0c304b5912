package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// careless, if set, makes the test binary leave everything it can to the program that it then becomes: the variable's value.
const careless = "SIGNALBOX_TEST_CARELESS"

func TestMain(m *testing.M) {
	if program := os.Getenv(careless); program != "" {
		fmt.Fprintln(os.Stderr, leaveEverythingTo(program, os.Args[1:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// leaveEverythingTo returns only if it fails.
func leaveEverythingTo(program string, args []string) error {
	runtime.LockOSThread()
	if err := leaveFiles(); err != nil {
		return err
	}
	ignore := [4]uint64{1}
	for s := uintptr(1); s <= 64; s++ { // SIGKILL and SIGSTOP can't be ignored
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&ignore)), 0, 8, 0, 0)
	}
	for resource, soft := range map[int]uint64{unix.RLIMIT_CORE: 1 << 20, unix.RLIMIT_NOFILE: 100, unix.RLIMIT_STACK: 1 << 20,
		unix.RLIMIT_MEMLOCK: 4096, unix.RLIMIT_FSIZE: 1 << 30, unix.RLIMIT_CPU: 1000, unix.RLIMIT_NPROC: 4000, unix.RLIMIT_SIGPENDING: 10} {
		var l syscall.Rlimit
		_ = syscall.Getrlimit(resource, &l)
		l.Cur = min(soft, l.Max)
		if err := syscall.Setrlimit(resource, &l); err != nil {
			return fmt.Errorf("lower limit %d: %w", resource, err)
		}
	}
	const fixedAddresses = 0x0040000 // ADDR_NO_RANDOMIZE
	_, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, fixedAddresses, 0, 0)
	unix.Umask(0o077)
	all := unix.Sigset_t{}
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, nil); err != nil {
		return err
	}
	return syscall.Exec(program, append([]string{"signalbox"}, args...), os.Environ())
}

// leaveFiles opens forty files of every kind that programs inherit.
func leaveFiles() error {
	for range 8 {
		file, err := unix.Open("/etc/passwd", unix.O_RDWR, 0)
		if err != nil {
			file, err = unix.Open("/etc/passwd", unix.O_RDONLY, 0)
		}
		folder, err2 := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		path, err3 := unix.Open("/root", unix.O_PATH, 0)
		pair, err4 := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err, at := firstOf(err, err2, err3, err4), max(file, folder, path, pair[0]); err != nil || at < 3 {
			return fmt.Errorf("open files to leave: %w", err)
		}
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// observe prints what a program can learn about its caller.
const observe = `ls -l /proc/self/fd | sed -n 's/.* \([0-9]* -> .*\)/\1/p' | grep -v '[0-9] -> /proc/[0-9]*/fd' | grep -v '^[012] ->'
grep -E '^(SigBlk|SigIgn)' /proc/self/status
umask; stat -c %a observe.sh .
cut -c 1-6 /proc/self/personality
sed -n 's/^Max \(\(core \)*file size\|cpu time\|stack size\|open files\|processes\|pending signals\)  *\([^ ]*\) .*/\1: \3/p' /proc/self/limits
env | grep LEFT_ | sort
echo end
`

const agent = "#!/bin/sh\n[ \"$SIGNALBOX_ROLE\" = planner ] || sh observe.sh >agent.txt 2>&1\n"

func TestNothingOfTheCallerEntersASandboxUnnamed(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "signalbox")
	compile := exec.Command("go", "build", "-o", program, ".")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("agent.sh", agent, 0o755)
	write("observe.sh", observe, 0o644)
	write("requests/1.md", "---\nid: RQ-20260101-001\nnumber: 1\ntitle: Look around\n---\n\nLook around.\n", 0o644)
	// The test sees what the agent saw, or fails.
	write(".signalbox/config.yaml", "tests: [\"sh observe.sh | diff agent.txt -\"]\napprove: auto\nworkflow: simple\n", 0o644)
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@localhost", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@localhost")
		if name == os.Args[0] {
			c.Env = append(c.Env, careless+"="+program)
			for i := range 40 {
				c.Env = append(c.Env, fmt.Sprintf("LEFT_%d=here", i))
			}
		}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("git", "init", "--quiet", "--initial-branch=main")
	run("git", "add", "observe.sh", "requests", ".signalbox/config.yaml")
	run("git", "commit", "--quiet", "-m", "Begin")
	said := run(os.Args[0], "run", "1", "--agent", "./agent.sh", "--trust")
	soft := func(resource int, wanted uint64) string {
		var l syscall.Rlimit
		if err := syscall.Getrlimit(resource, &l); err != nil {
			t.Fatal(err)
		}
		if wanted = min(wanted, l.Max); wanted == unix.RLIM_INFINITY {
			return "unlimited"
		}
		return fmt.Sprint(wanted)
	}
	const unlimited = unix.RLIM_INFINITY
	want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n0022\n644\n755\n000000\n" +
		"cpu time: " + soft(unix.RLIMIT_CPU, unlimited) + "\nfile size: " + soft(unix.RLIMIT_FSIZE, unlimited) +
		"\nstack size: " + soft(unix.RLIMIT_STACK, 8<<20) + "\ncore file size: " + soft(unix.RLIMIT_CORE, 1) +
		"\nprocesses: " + soft(unix.RLIMIT_NPROC, unlimited) + "\nopen files: " + soft(unix.RLIMIT_NOFILE, 65536) +
		"\npending signals: " + soft(unix.RLIMIT_SIGPENDING, unlimited) + "\nend\n"
	if seen := run("git", "show", "main:agent.txt"); seen != want {
		t.Errorf("inside there is\n%s\nwant\n%s\n%s", seen, want, said)
	}
}
