package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// cgroupRoot is where every system mounts its control groups.
const cgroupRoot = "/sys/fs/cgroup"

// groupParent is a control group below which we may make our own.
type groupParent struct {
	dir string
	// unified: of version 2, where a program is started in its group; in version 1 the thread
	// that starts it is, for that moment.
	unified bool
}

// groupParents returns the parent for each of the controllers that can be had.
func groupParents(controllers []string) map[string]groupParent {
	content, _ := os.ReadFile("/proc/self/cgroup")
	parents := map[string]groupParent{}
	for line := range strings.Lines(string(content)) {
		// "id:controllers:path"; the id 0 is version 2.
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		if fields[0] == "0" {
			dir, has := unifiedParent(fields[2], controllers)
			for _, controller := range has {
				parents[controller] = groupParent{dir: dir, unified: true}
			}
		}
		for controller := range strings.SplitSeq(fields[1], ",") {
			dir := filepath.Join(cgroupRoot, controller, fields[2])
			if slices.Contains(controllers, controller) && unix.Access(dir, unix.W_OK) == nil {
				parents[controller] = groupParent{dir: dir}
			}
		}
	}
	return parents
}

// unifiedParent finds the nearest group, from our own upwards, below which one with the
// controllers can be made and entered: a group that has processes of its own hands none down, so
// it is mostly the one above. Controllers that another version holds are passed over.
func unifiedParent(own string, controllers []string) (dir string, has []string) {
	root := cgroupRoot
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		root = filepath.Join(cgroupRoot, "unified")
	}
	for path := filepath.Clean(own); ; path = filepath.Dir(path) {
		dir := filepath.Join(root, path)
		content, _ := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		down := strings.Fields(string(content))
		has := slices.DeleteFunc(slices.Clone(controllers), func(c string) bool { return !slices.Contains(down, c) })
		// A process that enters a group must also be allowed to leave for the one above both.
		mayEnter := unix.Access(dir, unix.W_OK) == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil
		if len(has) > 0 && mayEnter {
			return dir, has
		}
		if path == "/" || path == "." {
			return "", nil
		}
	}
}
