package cli_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// projectDir is a temporary folder for a project whose environments may still be mounted when
// its test ends.
func projectDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { unmountBelow(dir) })
	return dir
}

// unmountBelow takes away what is mounted below a folder. What cannot be shows itself: the
// folder cannot be deleted.
func unmountBelow(dir string) {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			_ = unix.Unmount(fields[4], unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		}
	}
}
