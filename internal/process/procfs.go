package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// environLimit bounds the reading of one environment; the kernel lets a program have a
	// quarter of its stack limit, which is 2 MiB by default.
	environLimit = 8 << 20
	// settleTries and settleWait: how often and after how long to read a process again that is in
	// the middle of an execve, which takes well under a millisecond.
	settleTries = 5
	settleWait  = time.Millisecond
)

// processes returns the ids of all processes in view.
func processes() (pids []int, err error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// youngerThan returns the pids, listed just now, that may have been started after leader. The kernel counts process ids up and
// starts again at the bottom: until it has done so, the younger ones are between the leader and the newest. Reading a thousand
// environments would take longer than most git commands.
func youngerThan(leader int, pids []int) []int {
	content, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(content))
	if len(fields) == 0 {
		return pids
	}
	newest, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return pids
	}
	return slices.DeleteFunc(pids, func(pid int) bool { return !youngerOf(leader, newest, pid) })
}

// youngerOf reports whether pid is between leader and newest, also where the kernel started again at the bottom.
func youngerOf(leader, newest, pid int) bool {
	if leader <= newest {
		return leader <= pid && pid <= newest
	}
	return leader <= pid || pid <= newest
}

// tagged reports whether pid was started with the assignment tag in its environment.
func tagged(ctx context.Context, pid int, tag string) bool {
	for line := range bytes.SplitSeq(environ(ctx, pid), []byte{0}) {
		if string(line) == tag {
			return true
		}
	}
	return false
}

// environ returns the environment that pid was started with. Between its old program and its new
// one a process shows neither environment nor arguments, so environ waits; a kernel thread or a
// zombie has no program file, and a program without variables has arguments.
func environ(ctx context.Context, pid int) []byte {
	environ := readProc(pid, "environ")
	for try := 0; len(environ) == 0 && try < settleTries; try++ {
		if _, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err != nil {
			return nil
		}
		settled := len(readProc(pid, "cmdline")) > 0
		if environ = readProc(pid, "environ"); settled {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(settleWait):
		}
	}
	return environ
}

// readProc returns a file of a process, empty if it may not be read or the process has ended.
func readProc(pid int, name string) []byte {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	content, _ := io.ReadAll(io.LimitReader(file, environLimit))
	return content
}
