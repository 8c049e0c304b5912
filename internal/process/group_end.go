package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// end kills the processes left in the group and removes it. No process leaves a control group by itself, so this also finds those that
// left the process group and dropped their environment. starved reports whether the OOM killer struck in it.
func (g *group) end(ctx context.Context) (starved bool, err error) {
	if g == nil {
		return false, nil
	}
	for parent, dir := range g.dirs {
		file := "memory.oom_control"
		if parent.unified {
			file = "memory.events"
		}
		kills, known := oomKills(filepath.Join(dir, file))
		starved = starved || known && kills > 0
	}
	var errs []error
	for _, dir := range slices.Sorted(maps.Values(g.dirs)) {
		errs = append(errs, empty(ctx, dir))
	}
	return starved, errors.Join(append(errs, g.remove())...)
}

// empty kills the group's processes until it has none.
func empty(ctx context.Context, dir string) error {
	_ = write(filepath.Join(dir, "cgroup.kill"), "1") // which only version 2 has
	for {
		content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		// A thread of ours that could not leave is on its way out.
		pids := slices.DeleteFunc(strings.Fields(string(content)), func(pid string) bool { return pid == strconv.Itoa(os.Getpid()) })
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, text := range pids {
			pid, _ := strconv.Atoi(text) // the kernel's; 0 is one of another process namespace
			if pid == 0 {
				return fmt.Errorf("end processes of control group %s: %w", dir, ErrUnkillable)
			}
			if err := killIn(ctx, dir, pid); err != nil {
				return err
			}
		}
	}
}

// killIn kills pid, if it is still in the group, and waits for its end. As in signalTagged, the
// descriptor makes sure that the process in the group is the one that is killed.
func killIn(ctx context.Context, dir string, pid int) error {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(pidfd) }()
	content, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil || !slices.Contains(strings.Fields(string(content)), strconv.Itoa(pid)) {
		return nil
	}
	if err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return awaitDeath(ctx, pidfd)
}

// removeWait limits the tries to remove a group: the kernel removes a dead process from it a moment
// after its death shows, and doesn't report that.
const removeWait = 2 * time.Second

// remove deletes the group's folders. Doing it twice is no error.
func (g *group) remove() error {
	if g == nil {
		return nil
	}
	var errs []error
	if g.unified != nil {
		_ = g.unified.Close()
		g.unified = nil
	}
	for _, dir := range g.dirs {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}

func removeGroup(dir string) error {
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) || time.Since(begun) > removeWait {
			return fmt.Errorf("remove control group %s: %w", dir, err)
		}
	}
}
