package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// tagName is the variable by which Run finds processes that left the process
// group. Its value is the starter, as pid.start.namespace, and a text that is
// unique to this start.
const tagName = "SIGNALBOX_PROCESS"

// self returns this process's identity in tags, two bare dots if /proc doesn't show it.
var self = sync.OnceValue(func() string {
	start, err := startOf("self")
	namespace, errLink := os.Readlink("/proc/self/ns/pid")
	if errors.Join(err, errLink) != nil {
		return ".."
	}
	return fmt.Sprintf("%d.%s.%s", os.Getpid(), start, strings.Trim(namespace, "pid:[]"))
})

// SweepOrphans is Sweep among the processes whose starter is dead: what a killed
// Signalbox left behind where living ones may use the same tag. A starter's
// programs die with it, except in the instant before a program asks the kernel for
// that itself, as bubblewrap's first child does. SweepOrphans also removes the
// control groups of dead starters, with everything in them.
func SweepOrphans(ctx context.Context, tag string) (killed int, err error) {
	if !assignment().MatchString(tag) {
		return 0, fmt.Errorf("sweep orphans of %q: not a variable assignment", tag)
	}
	dead := func(starter string) bool {
		_, _, dead := judgeStarter(starter)
		return dead
	}
	killed, err = sweep(ctx, tag, func() ([]int, error) {
		pids, err := processes()
		return slices.DeleteFunc(pids, func(pid int) bool { return !dead(starterOf(ctx, pid)) }), err
	})
	errs := []error{err}
	for _, parent := range groupParents(Limits{Memory: 1, CPUs: 1, Processes: 1}.controllers()) {
		left, err := filepath.Glob(filepath.Join(parent.dir, groupPrefix+"*"))
		errs = append(errs, err)
		for _, dir := range left {
			if dead(strings.TrimPrefix(filepath.Base(dir), groupPrefix)) {
				errs = append(errs, empty(ctx, dir), removeGroup(dir))
			}
		}
	}
	return killed, errors.Join(errs...)
}

// Starters returns the ids of the living processes, except the calling one, that started a still living process with this variable assignment in
// its environment. It omits starters in other process namespaces.
func Starters(ctx context.Context, tag string) (starters []int, err error) {
	pids, err := processes()
	for _, pid := range pids {
		if !tagged(ctx, pid, tag) {
			continue
		}
		if starter, lives, _ := judgeStarter(starterOf(ctx, pid)); lives && starter != os.Getpid() && !slices.Contains(starters, starter) {
			starters = append(starters, starter)
		}
	}
	return starters, err
}

// starterOf returns the value of a process's tag, empty if it has none.
func starterOf(ctx context.Context, pid int) (tag string) {
	for variable := range strings.SplitSeq(string(environ(ctx, pid)), "\x00") {
		if value, found := strings.CutPrefix(variable, tagName+"="); found {
			tag = value // the last one: what a Signalbox runs may be a Signalbox
		}
	}
	return tag
}

// judgeStarter returns the process that a tag's value names, and whether it lives or is dead. In another namespace, whose
// ids mean nothing here, it is neither.
func judgeStarter(tag string) (pid int, lives, dead bool) {
	parts := strings.Split(tag, ".")
	if len(parts) != 4 || parts[0] == "" || !strings.HasSuffix(self(), "."+parts[2]) {
		return 0, false, false
	}
	start, err := startOf(parts[0])
	pid, errPID := strconv.Atoi(parts[0])
	same := err == nil && start == parts[1]
	return pid, same && errPID == nil, errors.Is(err, fs.ErrNotExist) || err == nil && !same
}

// startOf returns when a process started, in clock ticks after boot.
func startOf(pid string) (string, error) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", fmt.Errorf("read start of process %s: %w", pid, err)
	}
	// The second field is the program's name, in parentheses and with any bytes inside.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const start = 22 - 3 // field 22, counted from the third
	if len(fields) <= start {
		return "", fmt.Errorf("read start of process %s: unexpected line", pid)
	}
	return fields[start], nil
}
