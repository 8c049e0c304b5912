package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mountSource is how our mounts call themselves in the machine's table of mounts.
const mountSource = "signalbox"

// overlayOptions: directories that come from below can be renamed (git mv, npm), and no file of
// the base is ever only half copied up. What a kernel does not know is left out at the second try.
var overlayOptions = []string{"redirect_dir=on,index=off,metacopy=off", ""}

// mountOverlay mounts an overlay with the first of some options that the kernel knows. Already
// done is no error. The folders are named by descriptors: paths may have characters that mean
// something among options, or be changed to links meanwhile.
func mountOverlay(o overlay, options []string) error {
	there, err := mounted(o.target)
	if err != nil || there {
		return err
	}
	if err := vacant(o.target); err != nil {
		return err
	}
	var named []string
	for _, path := range []string{o.lower, o.layer.upper(), o.layer.work(), o.target} {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
		defer func() { _ = unix.Close(fd) }()
		named = append(named, "/proc/self/fd/"+strconv.Itoa(fd))
	}
	layers := "lowerdir=" + named[0] + ",upperdir=" + named[1] + ",workdir=" + named[2]
	for _, further := range options {
		err = unix.Mount(mountSource, named[3], "overlay", unix.MS_NOSUID|unix.MS_NODEV, strings.TrimSuffix(layers+","+further, ","))
		if !errors.Is(err, unix.EINVAL) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("mount overlay on %s: %w", o.target, err)
	}
	return nil
}

// vacant refuses a mount point that holds something, which is somebody's.
func vacant(target string) error {
	held, err := os.ReadDir(target)
	if err != nil {
		return fmt.Errorf("mount on %s: %w", target, err)
	}
	for _, entry := range held {
		if entry.Name() != noteFile {
			return fmt.Errorf("mount on %s: %w: move away what lies in it", target, ErrOccupied)
		}
	}
	return nil
}

// unmount takes away whatever is mounted at path; nothing there is no error. No command of the
// environment runs any more. Who else is inside, a person's shell say, keeps a view of what was there.
func unmount(path string) error {
	for {
		there, err := mounted(path)
		if err != nil || !there {
			return err
		}
		if err = unix.Unmount(path, unix.UMOUNT_NOFOLLOW); errors.Is(err, unix.EBUSY) {
			err = unix.Unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
		}
		if err != nil {
			return fmt.Errorf("unmount %s: %w", path, err)
		}
	}
}

// mounted reports whether something is mounted at path.
func mounted(path string) (bool, error) {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, unix.STATX_BASIC_STATS, &s)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a mount at %s: %w", path, err)
	}
	if s.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT == 0 { // Linux before 5.8
		held, err := mountsBelow(path)
		return len(held) > 0 && held[0] == path, err
	}
	return s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, nil
}

// errMounted: something is mounted in a folder that is to be deleted.
var errMounted = errors.New("something is mounted in it")

// mountsBelow are the places at or below dir where something is mounted, dir itself first.
func mountsBelow(dir string) (found []string, err error) {
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
		} else if within(at, real) {
			found = append(found, at)
		}
	}
	return found, nil
}

// unescapeMount undoes what the kernel does to paths in its table.
var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// tryOverlays reports how overlays can be mounted here, by doing it: that takes root or namespaces
// of one's own, a file system which keeps their marks, and a kernel that allows it. What a crash
// leaves of the attempt goes with the environment.
func (e *Environment) tryOverlays(ctx context.Context) Way {
	if e.layout.removeTrial() != nil {
		return Copy
	}
	defer func() { _ = e.layout.removeTrial() }()
	o, err := e.layout.prepareTrial()
	switch {
	case err != nil:
	case os.Geteuid() == 0:
		if mountOverlay(o, overlayOptions) == nil && tryRenaming(o.target) == nil && tryReplacing(o.target) == nil {
			return Overlay
		}
	case !e.driver.config.OnHost:
		if e.driver.tryPrivate(ctx, o) == nil {
			return Private
		}
	}
	return Copy
}

func (l layout) removeTrial() error {
	return errors.Join(unmount(filepath.Join(l.trial(), "at")), removeTree(l.trial()))
}

func (l layout) prepareTrial() (overlay, error) {
	o := overlay{filepath.Join(l.trial(), "lower"), layer{l.trial()}, filepath.Join(l.trial(), "at")}
	for _, path := range []string{o.lower + "/a", o.lower + "/b/c", o.layer.upper(), o.layer.work(), o.target} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return overlay{}, err
		}
	}
	return o, nil
}

// tryRenaming does with a folder of the base what git mv does.
func tryRenaming(at string) error { return os.Rename(at+"/a", at+"/d") }

// tryReplacing replaces a folder of the base by another.
func tryReplacing(at string) error {
	if err := errors.Join(os.RemoveAll(at+"/b"), os.Mkdir(at+"/b", 0o700)); err != nil {
		return err
	}
	if left, err := os.ReadDir(at + "/b"); err != nil || len(left) > 0 {
		return errors.Join(err, errNoBase)
	}
	return nil
}
