package store

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// faults are what a full, a broken, a read-only disk and a used-up quota answer.
var faults = []syscall.Errno{unix.ENOSPC, unix.EIO, unix.EROFS, unix.EDQUOT}

// faultsOf are the reasons for which a call is refused: those without which nothing is durable for each, and the others
// for one after another, because the store asks of none which it was.
func faultsOf(p point, turn int) []syscall.Errno {
	if os.Getenv(everything) != "" || slices.Contains(makesDurable, p.call) {
		return faults
	}
	return faults[turn%len(faults):][:1]
}

// needless are the calls that an update may survive the failure of.
var needless = []string{"close", "fcntl", "epoll_ctl"}

// isNeedless: the first flock takes the lock; the next one frees it, as does closing its file behind that.
func (p point) isNeedless() bool {
	return slices.Contains(needless, p.call) || p.call == "flock" && p.n > 1
}

// makesDurable are the calls without which a document is not written: their failure is ErrWrite.
var makesDurable = []string{"write", "fsync", "renameat", "unlinkat"}

// Each update is refused each of its system calls.
func TestAnUpdateRefusedAnySystemCallSaysSoOrIsThere(t *testing.T) {
	t.Parallel()
	needs(t, "strace")
	for name := range sweptUpdates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			points := pointsOf(t, prepare(t, name).s, name, "fsync")
			points = points[:len(points)-1] // the acknowledgement is not the store's
			survived := map[string]bool{}
			refused := 0
			for i, p := range points {
				for _, errno := range faultsOf(p, i) {
					refused++
					if refuse(t, name, p, errno) {
						survived[p.call] = true
					}
				}
			}
			t.Logf("%d calls refused %d times; survived: %v", len(points), refused, survived)
		})
	}
}

// refuse lets one system call of an update fail and reports whether the update was acknowledged all the same.
func refuse(t *testing.T, update string, p point, errno syscall.Errno) bool {
	t.Helper()
	before, at := prepare(t, update), fmt.Sprintf("%s is %s", p, unix.ErrnoName(errno))
	got := traced(t, before.s, update, errno, "-e", "trace=close,fsync,fdatasync,"+p.call,
		"-e", fmt.Sprintf("inject=%s:error=%s:when=%d", p.call, unix.ErrnoName(errno), p.n))
	if got.injected() < 0 {
		t.Errorf("%s: nothing was refused: %q", at, got.calls)
	}
	if again := got.flushedAgain(); again != "" {
		t.Errorf("%s: repeated on the same descriptor: %s", at, again)
	}
	acknowledged := got.said == "acknowledged"
	switch {
	case acknowledged && !p.isNeedless() && !slices.Contains(before.needless, p.call):
		t.Errorf("%s: acknowledged", at)
	case !acknowledged && !strings.HasPrefix(got.said, "refused true"),
		!acknowledged && slices.Contains(makesDurable, p.call) && !strings.HasPrefix(got.said, "refused true true"):
		t.Errorf("%s: %s", at, got.said)
	}
	before.mustGoOn(t, at, acknowledged)
	return acknowledged
}

// injected is the place of the call that was made to fail; -1 if none was.
func (c cut) injected() int {
	return slices.IndexFunc(c.calls, func(call string) bool { return strings.HasSuffix(call, "(INJECTED)") })
}

// flushedAgain is a second flush of the descriptor whose first was made to fail.
func (c cut) flushedAgain() string {
	at := c.injected()
	if at < 0 || !strings.Contains(nameOf(c.calls[at]), "sync") {
		return ""
	}
	_, descriptor, _ := strings.Cut(c.calls[at], "(")
	descriptor, _, _ = strings.Cut(descriptor, ")")
	for _, call := range c.calls[at+1:] {
		if !strings.Contains(call, "("+descriptor+")") {
			continue
		}
		if nameOf(call) == "close" {
			return "" // the number is another file's from here on
		}
		return call
	}
	return ""
}
