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

// Remove deletes a folder whatever the modes of the folders in it, and follows no link. It refuses if something is mounted
// there, because it would delete that as well.
func Remove(dir string) error {
	held, err := MountsBelow(dir)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		return fmt.Errorf("delete %s: something is mounted in it: %q", dir, held)
	}
	err = os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	if err := errors.Join(openFolder(root, filepath.Base(dir)), root.Close()); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// openFolder makes a folder and every folder in it readable and writable for us.
func openFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(name))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			if err := openFolder(root, filepath.Join(name, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// MountsBelow returns the places at or below dir where something is mounted, dir itself first.
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

// unescapeMount undoes the kernel's escapes in paths of its table.
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
