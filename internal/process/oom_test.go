package process_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"signalbox/internal/process"
)

func TestTheOOMKillerIsDistinguishedFromOtherKills(t *testing.T) {
	t.Parallel()
	group := limitedGroup(t)
	var out bytes.Buffer
	c := child("run a glutton")
	c.Stdin, c.Stdout = strings.NewReader(group), &out
	if got := run(t, c); !got.OK() {
		t.Fatalf("the runner did not survive: %+v", got)
	}
	var got process.Result
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Ending != process.NoMemory || got.Signal != "SIGKILL" {
		t.Errorf("got %+v, want %s by SIGKILL", got, process.NoMemory)
	}
}

// limitedGroup makes a control group that allows 128 MiB.
func limitedGroup(t *testing.T) string {
	t.Helper()
	const limit = "134217728"
	content, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		parent, file := filepath.Join("/sys/fs/cgroup", fields[2]), "memory.max"
		switch {
		case fields[1] == "memory":
			parent, file = filepath.Join("/sys/fs/cgroup/memory", fields[2]), "memory.limit_in_bytes"
		case fields[0] != "0":
			continue
		}
		group, err := os.MkdirTemp(parent, "signalbox-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		limiter, err := os.OpenFile(filepath.Join(group, file), os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		_, err = limiter.WriteString(limit)
		if closeErr := limiter.Close(); err == nil && closeErr == nil {
			return group
		}
	}
	t.Skip("needs the right to make a memory control group")
	return ""
}
