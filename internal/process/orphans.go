package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// tagName is the variable by which Run finds what left the process group. Its
// value tells who started the program, pid.start.namespace, and then what
// tells this start from all others.
const tagName = "SIGNALBOX_PROCESS"

func newTag() string { return tagName + "=" + self() + "." + rand.Text() }

// self is this process's identity in tags, two dots without words where /proc does not tell it.
var self = sync.OnceValue(func() string {
	start, err := startOf("self")
	namespace, errLink := os.Readlink("/proc/self/ns/pid")
	if errors.Join(err, errLink) != nil {
		return ".."
	}
	return fmt.Sprintf("%d.%s.%s", os.Getpid(), start, strings.Trim(namespace, "pid:[]"))
})

// SweepOrphans is Sweep among those whose starter is dead: what a killed
// Signalbox left behind where others that live may use the same tag. A starter
// dies with all it started, but for a program in the instant before it asks
// the kernel for that itself, as bubblewrap's first child does. The control
// groups of dead starters are removed, too, with whatever is still in them.
func SweepOrphans(ctx context.Context, tag string) (killed int, err error) {
	if !assignment().MatchString(tag) {
		return 0, fmt.Errorf("sweep orphans of %q: not a variable assignment", tag)
	}
	killed, err = sweep(ctx, tag, func() ([]int, error) {
		pids, err := processes()
		return slices.DeleteFunc(pids, func(pid int) bool { return !orphaned(ctx, pid) }), err
	})
	return killed, errors.Join(err, sweepGroups(ctx))
}

// orphaned reports whether pid was started by a process of this namespace that
// is dead. Of other namespaces the ids mean nothing here.
func orphaned(ctx context.Context, pid int) bool { return starterDead(starterOf(ctx, pid)) }

// starterOf returns the value of a process's tag, empty if it has none.
func starterOf(ctx context.Context, pid int) (tag string) {
	for variable := range strings.SplitSeq(string(environ(ctx, pid)), "\x00") {
		if value, found := strings.CutPrefix(variable, tagName+"="); found {
			tag = value // the last one: what a Signalbox runs may be a Signalbox
		}
	}
	return tag
}

// starterDead reports whether the starter that a tag's value names is of this namespace and dead.
func starterDead(tag string) bool {
	parts := strings.Split(tag, ".")
	if len(parts) != 4 || parts[0] == "" || !strings.HasSuffix(self(), "."+parts[2]) {
		return false
	}
	start, err := startOf(parts[0])
	return errors.Is(err, fs.ErrNotExist) || err == nil && start != parts[1]
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
