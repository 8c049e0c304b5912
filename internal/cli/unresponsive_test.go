package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestStopSaysWhoIsSuspendedAndWhatToType(t *testing.T) {
	t.Parallel()
	_, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	c.signal(syscall.SIGSTOP)
	s := p.start("stop", "1")
	if code := s.wait(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	pid := c.cmd.Process.Pid
	for _, want := range []string{"is suspended and takes no orders", fmt.Sprintf("kill -CONT %d", pid), fmt.Sprintf("kill -9 %d; then signalbox resume 1", pid)} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("want %q in %s", want, s.out)
		}
	}
	c.signal(syscall.SIGCONT) // it takes the order that was left for it
	if code := c.wait(); code != 3 {
		t.Errorf("exit code %d\n%s", code, c.out)
	}
}

func TestARunWhoseLockWasRemovedIsNotCarriedTwiceAndItsAgentLives(t *testing.T) {
	t.Parallel()
	g, p := beforeImplementer(t, 1)
	c := p.startStandingStill(1)
	if err := os.RemoveAll(filepath.Join(p.dir, ".signalbox", "locks")); err != nil {
		t.Fatal(err)
	}
	said := p.run(5, "resume", "1")
	if want := "another process works on request"; !strings.Contains(said, want) {
		t.Errorf("want %q in %s", want, said)
	}
	if !runs("cat", g.path) {
		t.Errorf("its agent is gone:\n%s", c.out)
	}
	g.open()
	c.wait() // at its next save it finds that its locks are gone, and stops
	p.mustEndMerged()
}

// runs reports whether a process with exactly these words is there.
func runs(words ...string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		if line, err := os.ReadFile(name); err == nil && string(line) == strings.Join(words, "\x00")+"\x00" {
			return true
		}
	}
	return false
}
