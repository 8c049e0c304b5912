package process

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// The words are those of Go, git and bubblewrap where ulimit -u or -n is used up.
func TestALimitThatIsUsedUpIsNamedWithWhatToType(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "fork/exec", Path: "/usr/bin/git", Err: syscall.EAGAIN}, "ulimit -u"},
		{errors.New(`"bwrap: Can't fork for pid 1: Resource temporarily unavailable"`), "ulimit -u"},
		{errors.New("fatal: unable to fork"), "ulimit -u"},
		{&os.PathError{Op: "open", Path: "stage.json", Err: syscall.EMFILE}, "ulimit -n"},
		{errors.New("fatal: could not open a.txt: Too many open files"), "ulimit -n"},
		{errors.New("error: cannot run no-such-filter: unable to fork: No such file or directory"), ""},
		{&os.PathError{Op: "read", Path: "a socket", Err: syscall.EAGAIN}, ""},
		{nil, ""},
	} {
		if _, advice := Exhausted(test.err); !strings.Contains(advice, test.want) || (advice == "") != (test.want == "") {
			t.Errorf("%v: %q, want %q", test.err, advice, test.want)
		}
	}
}

func TestOnlyProcessesThatMayBeYoungerAreSuspects(t *testing.T) {
	t.Parallel()
	if got := youngerThan(os.Getpid(), []int{os.Getpid()}); len(got) != 1 {
		t.Errorf("suspects = %d, want at least the leader", got)
	}
	for _, test := range []struct {
		leader, newest, pid int
		younger             bool
	}{
		{100, 200, 100, true},
		{100, 200, 200, true},
		{100, 200, 99, false},
		{100, 200, 201, false}, // left from the round before
		{200, 100, 300, true},  // the ids began again at the bottom
		{200, 100, 50, true},
		{200, 100, 150, false},
	} {
		if got := youngerOf(test.leader, test.newest, test.pid); got != test.younger {
			t.Errorf("youngerOf(%d, %d, %d) = %t", test.leader, test.newest, test.pid, got)
		}
	}
}
