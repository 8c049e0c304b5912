package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/flock"
	"signalbox/internal/lazy"

	"golang.org/x/sys/unix"
)

const (
	lockPatience = 3 * time.Second
	lockTries    = 30
	// startSlack is how much younger than this process a lock of a killed predecessor's git may be:
	// that git may finish the system call in which it was killed.
	startSlack = time.Second
)

var lockMessage = lazy.Pattern(`Unable to create '(.+\.lock)': File exists`)

// RemoveStaleLock removes a lock file that a killed git left in our git folder, and reports whether it is
// gone. The file must be older than this process, up to startSlack, no live process may have it open,
// and no git that is as old may be at work in the repository: "git commit" keeps its lock, closed, while
// a person writes the message.
//
// Only one process looks at a time: another one's new lock would have the same name as the stale one.
func (r *Runner) RemoveStaleLock(ctx context.Context, path string) bool {
	inside, err := filepath.Rel(r.GitDir, path)
	if err != nil || !filepath.IsLocal(inside) {
		return false
	}
	unlock, err := r.Hold(ctx, "signalbox-stale.lock")
	if err != nil {
		return false
	}
	defer unlock()
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	own, ok := startTicks("self")
	own += int64(startSlack / tick)
	var day, boot unix.Timespec
	err = errors.Join(err, unix.ClockGettime(unix.CLOCK_REALTIME, &day), unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot))
	if err != nil || !ok || !info.Mode().IsRegular() {
		return false
	}
	started := time.Unix(0, day.Nano()-boot.Nano()).Add(time.Duration(own) * tick) // as files' times count
	if !info.ModTime().Before(started) {
		return false
	}
	folders, err := r.folders(ctx)
	if err != nil {
		return false
	}
	if heldByLiveProcess(path, own, folders) {
		return false
	}
	return os.Remove(path) == nil
}

// folders returns where a git may be at work on the repository: its own folder, and every work tree.
func (r *Runner) folders(ctx context.Context) ([]string, error) {
	found := []string{r.GitDir, r.Root}
	if _, err := os.Lstat(filepath.Join(r.GitDir, "worktrees")); errors.Is(err, os.ErrNotExist) {
		return found, nil // Root is the only work tree
	}
	out, err := r.start(ctx, Call{Args: []string{"worktree", "list", "--porcelain", "-z"}})
	for line := range strings.SplitSeq(string(out), "\x00") {
		if dir, ok := strings.CutPrefix(line, "worktree "); ok {
			found = append(found, dir)
		}
	}
	return found, err
}

// Hold locks a file of ours in the git folder until unlock. The file stays, because its removal would let
// two processes hold it.
func (r *Runner) Hold(ctx context.Context, name string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(r.GitDir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err := flock.Wait(ctx, file); err != nil {
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = flock.Release(file) }, nil
}

// heldByLiveProcess reports whether a process has the lock file open, or may be a git that holds it.
func heldByLiveProcess(path string, own int64, folders []string) bool {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err != nil {
			continue
		}
		open := filepath.Join("/proc", p.Name(), "fd")
		descriptors, _ := os.ReadDir(open) // none of a process that has ended, or is another user's
		for _, d := range descriptors {
			if target, err := os.Readlink(filepath.Join(open, d.Name())); err == nil && target == path {
				return true
			}
		}
		if isOlderGit(p.Name(), own, folders) {
			return true
		}
	}
	return false
}

// isOlderGit reports whether the process is a git as old as us that works in one of the folders. A git of
// another user, whose folder is hidden, counts.
func isOlderGit(pid string, own int64, folders []string) bool {
	name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
	if err != nil || !strings.HasPrefix(string(name), "git") {
		return false
	}
	// The git that answers our questions, or another Signalbox's, locks nothing.
	if args, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")); err == nil && strings.Contains(string(args), "\x00--batch-command\x00") {
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
