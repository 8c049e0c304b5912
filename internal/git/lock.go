package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var lockMessage = regexp.MustCompile(`Unable to create '(.+\.lock)': File exists`)

func lockInTheWay(err error) (path string, locked bool) {
	var failed *commandError
	if !errors.As(err, &failed) {
		return "", false
	}
	found := lockMessage.FindStringSubmatch(failed.stderr)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// removeStaleLock removes a lock file that a killed git left in our git
// folder. It must be older than this process, no live process may have it open,
// and no git that is older than this process may be at work in the repository:
// "git commit" keeps its lock, closed, while a person writes the message.
func (r *Repo) removeStaleLock(ctx context.Context, path string) bool {
	inside, err := filepath.Rel(r.gitDir, path)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	own, ok := startTicks("self")
	if err != nil || !ok || !info.Mode().IsRegular() || !info.ModTime().Before(wallClock(own)) {
		return false
	}
	places, err := r.worktrees(ctx)
	if err != nil {
		return false
	}
	folders := []string{r.gitDir}
	for _, place := range places {
		folders = append(folders, place.dir)
	}
	if heldByLiveProcess(path, own, folders) {
		return false
	}
	return os.Remove(path) == nil
}

func heldByLiveProcess(path string, own int64, folders []string) bool {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		if hasOpen(p.Name(), path) || isOlderGit(p.Name(), own, folders) {
			return true
		}
	}
	return false
}

func hasOpen(pid, path string) bool {
	dir := filepath.Join("/proc", pid, "fd")
	descriptors, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, d := range descriptors {
		if target, err := os.Readlink(filepath.Join(dir, d.Name())); err == nil && target == path {
			return true
		}
	}
	return false
}

// isOlderGit: a git of another user, whose folder is hidden, counts as being here.
func isOlderGit(pid string, own int64, folders []string) bool {
	name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	if err != nil || !strings.HasPrefix(string(name), "git") {
		return false
	}
	if started, ok := startTicks(pid); ok && started > own {
		return false
	}
	dir, err := os.Readlink(filepath.Join("/proc", pid, "cwd"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	for _, folder := range folders {
		if inside, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(inside) {
			return true
		}
	}
	return false
}

// The kernel counts a process's start in hundredths of a second since boot (USER_HZ).
const tick = 10 * time.Millisecond

// startTicks is field 22 of /proc/<pid>/stat; the name in field 2 may hold spaces and parentheses.
func startTicks(pid string) (ticks int64, ok bool) {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 {
		return 0, false
	}
	ticks, err = strconv.ParseInt(fields[19], 10, 64)
	return ticks, err == nil
}

// wallClock is the time of day at which the machine had been up for so many
// ticks, to compare with the times of files.
func wallClock(ticks int64) time.Time {
	var day, boot unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &day) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return time.Time{}
	}
	return time.Unix(0, day.Nano()-boot.Nano()).Add(time.Duration(ticks) * tick)
}
