package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// group is the control group of one program: a folder in each hierarchy that limits something.
type group struct {
	dirs    map[groupParent]string
	unified *os.File // the folder of version 2, opened; nil if there is none
}

// groupPrefix starts the name of every group; the value of the program's tag (tagName), which names
// the starter, follows.
const groupPrefix = "signalbox."

// newGroup makes a group with the limits that can be enforced here; nil if there are none.
func newGroup(l Limits, tag string) (g *group, err error) {
	parents := groupParents(l.controllers())
	if len(parents) == 0 {
		return nil, nil
	}
	_, name, _ := strings.Cut(tag, "=")
	g = &group{dirs: map[groupParent]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.remove())
		}
	}()
	for _, parent := range parents {
		g.dirs[parent] = filepath.Join(parent.dir, groupPrefix+name)
	}
	for parent, dir := range g.dirs {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make control group: %w", err)
		}
		if parent.unified {
			if g.unified, err = os.Open(dir); err != nil {
				return nil, fmt.Errorf("open control group: %w", err)
			}
		}
	}
	return g, g.limit(l, parents)
}

// cpuPeriod is the time over which processor time is counted, in microseconds: the kernel's default.
const cpuPeriod = 100_000

// limit writes the limits, in the words of each version.
func (g *group) limit(l Limits, parents map[string]groupParent) error {
	memory, quota, processes := strconv.FormatInt(l.Memory, 10), strconv.Itoa(int(l.CPUs*cpuPeriod)), strconv.Itoa(l.Processes)
	settings := map[string][][2]string{
		"memory": {{"memory.limit_in_bytes", memory}, {"memory.memsw.limit_in_bytes", memory}},
		"cpu":    {{"cpu.cfs_quota_us", quota}},
		"pids":   {{"pids.max", processes}},
	}
	unified := map[string][][2]string{
		"memory": {{"memory.max", memory}, {"memory.swap.max", "0"}},
		"cpu":    {{"cpu.max", quota + " " + strconv.Itoa(cpuPeriod)}},
		"pids":   {{"pids.max", processes}},
	}
	for controller, parent := range parents {
		files := settings[controller]
		if parent.unified {
			files = unified[controller]
		}
		for i, file := range files {
			err := write(filepath.Join(g.dirs[parent], file[0]), file[1])
			// The second file is the one of swap, which a kernel may not count.
			if err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
				return fmt.Errorf("limit %s: %w", controller, err)
			}
		}
	}
	return nil
}

// write writes to a file that the kernel made.
func write(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// enter moves the calling thread into the group where version 1 holds, and has attr start the
// program in it where version 2 does.
func (g *group) enter(attr *syscall.SysProcAttr) error {
	if g == nil {
		return nil
	}
	if g.unified != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(g.unified.Fd())
	}
	for parent, dir := range g.dirs {
		if parent.unified {
			continue
		}
		if err := write(filepath.Join(dir, "tasks"), thisThread); err != nil {
			g.leave()
			return fmt.Errorf("enter control group: %w", err)
		}
	}
	return nil
}

// leave moves the calling thread back. A thread that can't leave does so when it ends, and counts as
// one of the group's processes until then.
func (g *group) leave() {
	if g == nil {
		return
	}
	for parent := range g.dirs {
		if !parent.unified {
			_ = write(filepath.Join(parent.dir, "tasks"), thisThread)
		}
	}
}

// thisThread written to a tasks file means the writing thread.
const thisThread = "0"
