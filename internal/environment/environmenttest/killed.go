package environmenttest

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
)

// Killed reports whether c, which performs an operation and kills itself at some instant, was killed; otherwise it
// must have ended well.
func Killed(t *testing.T, operation string, at int, c *exec.Cmd) bool {
	t.Helper()
	said, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%s killed at %d: %v: %s", operation, at, err, said)
	}
	return true
}
