package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// oomWatch counts how often the kernel's OOM killer strikes in our control group, which the
// programs we start share. If the kernel keeps no such count, nothing can be proven.
type oomWatch struct {
	file  string
	kills int64
}

// watchOOM starts to watch.
func watchOOM() oomWatch {
	cgroups, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range oomFiles(string(cgroups)) {
		if kills, ok := oomKills(file); ok {
			return oomWatch{file: file, kills: kills}
		}
	}
	return oomWatch{}
}

// killed reports whether r ended by a SIGKILL, directly or as a shell or a sandbox passes one on,
// while the OOM killer struck in the group. Call it only for results whose SIGKILL isn't ours.
func (w oomWatch) killed(r Result) bool {
	const passedOn = 128 + int(syscall.SIGKILL)
	if w.file == "" || r.Signal != "SIGKILL" && r.ExitCode != passedOn {
		return false
	}
	kills, ok := oomKills(w.file)
	return ok && kills > w.kills
}

// oomFiles returns where the count may be, given the content of /proc/self/cgroup. Its lines are
// "id:controllers:path"; the id 0 is version 2.
func oomFiles(cgroups string) (files []string) {
	const root = "/sys/fs/cgroup"
	for line := range strings.Lines(cgroups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		switch {
		case len(fields) != 3:
		case fields[0] == "0":
			files = append(files, filepath.Join(root, fields[2], "memory.events"))
		case fields[1] == "memory":
			files = append(files, filepath.Join(root, "memory", fields[2], "memory.oom_control"))
		}
	}
	return files
}

func oomKills(file string) (kills int64, ok bool) {
	content, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(content)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			kills, err = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
			return kills, err == nil
		}
	}
	return 0, false
}
