// Package overlay puts what one environment writes over the folders of a base that many share: overlays, mounted for the whole
// machine or in namespaces that only the environment's commands enter. It knows folders, and neither git nor environments.
package overlay

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/clone/folder"
)

// mountSource is how our mounts call themselves in the machine's table of mounts.
const mountSource = "signalbox"

// overlayOptions: directories that come from below can be renamed (git mv, npm), and no file of
// the base is ever only half copied up. What a kernel does not know is left out at the second try.
var overlayOptions = []string{"redirect_dir=on,index=off,metacopy=off", ""}

// ErrOccupied: a folder holds what is somebody's, and not ours.
var ErrOccupied = errors.New("the folder is not an environment of Signalbox")

// NoteFile lies where a folder is mounted that is seen only inside, for a person who looks there.
const NoteFile = "WHERE-ARE-THE-FILES.txt"

// Make mounts an overlay for the whole machine, which takes root. Already done is no error.
func Make(m Mount) error { return mount(m, overlayOptions) }

// mount mounts an overlay with the first of some options that the kernel knows. Already
// done is no error. The folders are named by descriptors: paths may have characters that mean
// something among options, or be changed to links meanwhile.
func mount(m Mount, options []string) error {
	there, err := folder.Mounted(m.Target)
	if err != nil || there {
		return err
	}
	if err := vacant(m.Target); err != nil {
		return err
	}
	var named []string
	for _, path := range []string{m.Lower, m.Layer.Upper(), m.Layer.Work(), m.Target} {
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
		return fmt.Errorf("mount overlay on %s: %w", m.Target, err)
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
		if entry.Name() != NoteFile {
			return fmt.Errorf("mount on %s: %w: move away what lies in it", target, ErrOccupied)
		}
	}
	return nil
}

// Unmount takes away whatever is mounted at path; nothing there is no error. No command of the
// environment runs any more. Who else is inside, a person's shell say, keeps a view of what was there.
func Unmount(path string) error {
	for {
		there, err := folder.Mounted(path)
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
