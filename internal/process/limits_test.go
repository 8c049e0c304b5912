package process_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/process"
)

// limitable skips where no control group can be made, and fails where everything must be tested.
func limitable(t *testing.T, l process.Limits) {
	t.Helper()
	note := process.LimitsNote(l)
	if note == "" {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatal(note)
	}
	t.Skip(note)
}

func TestMemoryBeyondTheLimitEndsTheProgram(t *testing.T) {
	t.Parallel()
	limits := process.Limits{Memory: 128 << 20}
	limitable(t, limits)
	for _, name := range []string{"take memory", "have a glutton and fail"} {
		c := child(name)
		c.Limits = limits
		if got := run(t, c); got.Ending != process.NoMemory {
			t.Errorf("%s: got %+v, want %s", name, got, process.NoMemory)
		}
	}
	c := child("exit 3")
	c.Limits = limits
	if got := run(t, c); got.Ending != process.Exited || got.ExitCode != 3 {
		t.Errorf("a program that needs little: got %+v", got)
	}
}

func TestNoMoreProcessesStartThanTheLimit(t *testing.T) {
	t.Parallel()
	limits := process.Limits{Processes: 30}
	limitable(t, limits)
	var out bytes.Buffer
	c := child("start 50 sleepers")
	c.Limits, c.Stdout = limits, &out
	run(t, c)
	if started, err := strconv.Atoi(strings.TrimSpace(out.String())); err != nil || started == 0 || started >= 30 {
		t.Errorf("started %q, want some, and fewer than 30", out.String())
	}
}

func TestAProgramBeginsInAGroupOfItsOwnWhichGoesWithIt(t *testing.T) {
	t.Parallel()
	limits := process.Limits{Memory: 512 << 20, CPUs: 0.5, Processes: 200}
	limitable(t, limits)
	out := newAwaited("ready\n")
	stdin, hold := io.Pipe()
	c := child("print its control groups")
	c.Limits, c.Stdin, c.Stdout = limits, stdin, out
	ended := make(chan process.Result)
	go func() {
		got, err := process.Run(t.Context(), c)
		if err != nil {
			t.Error(err)
		}
		ended <- got
	}()
	<-out.seen
	groups := groupsOf(t, out.String())
	for file, want := range map[string]string{
		"memory.limit_in_bytes": "536870912", "memory.max": "536870912", "pids.max": "200",
		"cpu.cfs_quota_us": "50000", "cpu.max": "50000 100000",
	} {
		for _, group := range groups {
			content, err := os.ReadFile(filepath.Join(group, file))
			if err == nil && strings.TrimSpace(string(content)) != want {
				t.Errorf("%s: %s, want %s", file, content, want)
			}
		}
	}
	_ = hold.Close()
	if got := <-ended; !got.OK() || len(groups) == 0 {
		t.Errorf("got %+v in %q", got, groups)
	}
	for _, group := range groups {
		if _, err := os.Stat(group); !os.IsNotExist(err) {
			t.Errorf("%s is still there (%v)", group, err)
		}
	}
	if own, err := os.ReadFile("/proc/thread-self/cgroup"); err != nil || strings.Contains(string(own), "signalbox.") {
		t.Errorf("we are in %s, %v", own, err)
	}
}

// groupsOf are the folders of the groups of ours in the content of /proc/self/cgroup.
func groupsOf(t *testing.T, cgroups string) (dirs []string) {
	t.Helper()
	for line := range strings.Lines(cgroups) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 || !strings.HasPrefix(filepath.Base(fields[2]), "signalbox.") {
			continue
		}
		for _, hierarchy := range append(strings.Split(fields[1], ","), "unified") {
			dir := filepath.Join("/sys/fs/cgroup", hierarchy, fields[2])
			if _, err := os.Stat(dir); err == nil {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

func TestAProcessThatEscapedTheSearchIsHeldByItsGroup(t *testing.T) {
	t.Parallel()
	limits := process.Limits{Processes: 100}
	limitable(t, limits)
	var out bytes.Buffer
	c := child("let a daemon escape")
	c.Limits, c.Stdout = limits, &out
	got := run(t, c)
	escaped, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil || !got.OK() {
		t.Fatalf("got %q and %+v", out.String(), got)
	}
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(escaped) + "/stat"); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("it is still alive: %s", stat)
	}
}

func TestGroupsOfAKilledStarterAreSwept(t *testing.T) {
	t.Parallel()
	limitable(t, process.Limits{Processes: 100})
	const tag = "SIGNALBOX_PROJECT=/home/ada/limited"
	variable, heldBy := lifeline(t)
	runner := startAndAwait(t, child("run a limited child", variable, tag))
	pattern := "signalbox." + strconv.Itoa(runner.Process.Pid) + ".*"
	if left := groupsNamed(t, pattern); len(left) == 0 {
		t.Fatal("the child has no group")
	}
	if _, err := process.SweepOrphans(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if left := groupsNamed(t, pattern); len(left) == 0 {
		t.Error("the group of a living starter was removed")
	}
	if err := runner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := runner.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := process.SweepOrphans(t.Context(), tag); err != nil {
		t.Fatal(err)
	}
	if left := groupsNamed(t, pattern); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	heldBy(2)
}

// groupsNamed finds groups of ours below any group of any hierarchy.
func groupsNamed(t *testing.T, pattern string) (found []string) {
	t.Helper()
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if ok, _ := filepath.Match(pattern, filepath.Base(path)); ok {
				found = append(found, path)
			}
		}
		return nil // groups of others come and go
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTheProgramInASandboxGetsTheSignalAndNotTheSandbox(t *testing.T) {
	t.Parallel()
	variable, heldBy := lifeline(t)
	out := newAwaited("ready\n")
	c := child("wait for one tidying up", variable)
	c.Stdout, c.Sandbox, c.Grace = out, true, 10*time.Second
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-out.seen; cancel() }()
	got, err := process.Run(ctx, c)
	// The child itself hangs, and takes SIGTERM's default if it gets one.
	if err != nil || got.Ending != process.Stopped || got.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v", got, err)
	}
	if !strings.HasSuffix(out.String(), "tidy\n") {
		t.Errorf("printed %q, want it tidied up", out.String())
	}
	heldBy(2)
}

func TestAProgramGetsTheOpenFilesItIsGiven(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write.WriteString("given"); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	var out bytes.Buffer
	got := run(t, process.Command{Args: []string{"/bin/sh", "-c", "cat <&3"}, Env: []string{"PATH=/bin:/usr/bin"}, Stdout: &out, Files: []*os.File{read}})
	if !got.OK() || out.String() != "given" {
		t.Errorf("got %+v, %q", got, out.String())
	}
	if _, err := read.Stat(); err != nil {
		t.Errorf("the caller's file was closed: %v", err)
	}
	_ = read.Close()
}

func TestAProgramStartsInTheNetworkItIsGiven(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("needs root for a network namespace")
		}
		t.Skip("needs root for a network namespace")
	}
	holder := startAndAwaitIn(t, child("hang"), syscall.CLONE_NEWNET).Process.Pid
	network, err := os.Open("/proc/" + strconv.Itoa(holder) + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = network.Close() }()
	want, err := os.Readlink("/proc/" + strconv.Itoa(holder) + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // on threads that were used before, too
		for _, given := range []*os.File{network, nil} {
			var out bytes.Buffer
			run(t, process.Command{Args: []string{"/bin/readlink", "/proc/self/ns/net"}, Stdout: &out, Network: given})
			if got := strings.TrimSpace(out.String()); (got == want) != (given != nil) {
				t.Fatalf("started in %s, given %v", got, given)
			}
		}
	}
}
