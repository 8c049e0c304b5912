package process

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOOMCountIsFoundInBothVersionsOfControlGroups(t *testing.T) {
	t.Parallel()
	const cgroups = "4:memory:/user/me\n1:cpu,cpuacct:/user/me\n0::/user.slice/app.scope\ngarbage\n"
	want := []string{"/sys/fs/cgroup/memory/user/me/memory.oom_control", "/sys/fs/cgroup/user.slice/app.scope/memory.events"}
	if got := oomFiles(cgroups); !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
	tests := []struct {
		name, content string
		kills         int64
		known         bool
	}{
		{name: "version 2 counts in memory.events", content: "low 0\noom 4\noom_kill 3\noom_group_kill 1\n", kills: 3, known: true},
		{name: "version 1 counts in memory.oom_control", content: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", kills: 2, known: true},
		{name: "an old kernel does not count", content: "oom_kill_disable 0\nunder_oom 0\n"},
		{name: "an empty file counts nothing", content: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "count")
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if kills, known := oomKills(file); kills != test.kills || known != test.known {
				t.Errorf("got %d, %t, want %d, %t", kills, known, test.kills, test.known)
			}
		})
	}
}

func TestNobodyIsPassedOverOnceProcessIDsStartedAgain(t *testing.T) {
	t.Parallel()
	const beyondAllIDs = 1 << 30
	pids := []int{1, 7, os.Getpid()}
	if got := youngerThan(beyondAllIDs, slices.Clone(pids)); !slices.Equal(got, pids) {
		t.Errorf("suspects = %d, want all of %d", got, pids)
	}
	if got := youngerThan(os.Getpid(), slices.Clone(pids)); !slices.Contains(got, os.Getpid()) {
		t.Errorf("suspects = %d, want at least the leader", got)
	}
}
