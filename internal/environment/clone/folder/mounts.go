package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errMounted: something is mounted in a folder that is to be deleted.
var errMounted = errors.New("something is mounted in it")

// MountsBelow are the places at or below dir where something is mounted, dir itself first.
func MountsBelow(dir string) (found []string, err error) {
	real, err := filepath.EvalSymlinks(filepath.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read the table of mounts: %w", err)
	}
	real = filepath.Join(real, filepath.Base(dir))
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if at := unescapeMount.Replace(fields[4]); at == real {
			found = append([]string{dir}, found...)
		} else if strings.HasPrefix(at, strings.TrimSuffix(real, "/")+"/") {
			found = append(found, at)
		}
	}
	return found, nil
}

// unescapeMount undoes what the kernel does to paths in its table.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// Mounted reports whether something is mounted at path.
func Mounted(path string) (bool, error) {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a mount at %s: %w", path, err)
	}
	if s.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0 { // Linux before 5.8
		held, err := MountsBelow(path)
		return len(held) > 0 && held[0] == path, err
	}
	return s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, nil
}
