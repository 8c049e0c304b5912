package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"signalbox/internal/session"
)

// sessionFile is what of a session's document tests look at.
type sessionFile struct {
	HostPID int        `json:"host_pid"`
	EndedAt *time.Time `json:"ended_at"`
}

// endSessions ends the sessions that a story left, which nobody else would.
func endSessions(dir string) {
	paths, _ := filepath.Glob(filepath.Join(dir, ".signalbox/sessions/*/session.json"))
	for _, path := range paths {
		var s sessionFile
		data, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(data, &s) == nil && s.EndedAt == nil && s.HostPID > 1 && isHost(s.HostPID) {
			_ = syscall.Kill(s.HostPID, syscall.SIGTERM)
		}
	}
}

// isHost reports whether the process hosts a session. A host that was killed leaves its id in the document, and the kernel
// may have given that to another process.
func isHost(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	name, _, _ := strings.Cut(string(line), "\x00")
	return err == nil && filepath.Base(name) == session.HostName
}

// hostMemory is what the process has for itself, in kB.
func hostMemory(t *testing.T, pid int) (kilobytes int) {
	t.Helper()
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if text, found := strings.CutPrefix(line, "Private_Dirty:"); found {
			kilobytes, err = strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")))
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return kilobytes
}

// The limit is the one that watching a thousand sessions was promised with.
func TestHostOfASandboxedAgentStaysSmall(t *testing.T) {
	t.Parallel()
	p := newProject(t, 1)
	t.Cleanup(func() { endSessions(p.dir) })
	p.write("agent.sh", "#!/bin/sh\nread line\nsignalbox report complete\n")
	if err := os.Chmod(filepath.Join(p.dir, "agent.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.run(0, "session", "start", "1", "--terminal", "--agent", "./agent.sh")
	data, err := os.ReadFile(filepath.Join(p.dir, ".signalbox/sessions/signalbox-issue-1/session.json"))
	var s sessionFile
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	const limit = 8 << 10
	if kilobytes := hostMemory(t, s.HostPID); kilobytes == 0 || kilobytes > limit {
		t.Errorf("its host has %d kB for itself, want at most %d", kilobytes, limit)
	}
	p.run(0, "session", "nudge", "1", "go")
	p.run(0, "session", "wait", "1", "--timeout", "1m")
	p.run(0, "session", "stop", "1")
}
