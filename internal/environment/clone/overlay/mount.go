// Package overlay mounts one environment's writable layer over the folders of a snapshot that many environments share, either
// for the whole machine or in namespaces that only the environment's commands enter. It knows folders, and neither git nor
// environments.
package overlay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/clone/folder"
)

// mountSource is the name of our mounts in the machine's table of mounts.
const mountSource = "signalbox"

// ErrOccupied: a folder holds files that are not ours.
var ErrOccupied = errors.New("the folder is not an environment of Signalbox")

// NoteFile lies in a folder whose mount only commands of the environment see, for a person who looks there.
const NoteFile = "WHERE-ARE-THE-FILES.txt"

// mountOptions are tried in order until the kernel knows them all. For root they let folders that come from below be renamed
// (git mv, npm), and never leave a file of the snapshot half copied up. Without root the kernel keeps an overlay's marks among
// the attributes that belong to users; a folder that comes from below can only be copied then, not renamed (EXDEV).
var mountOptions = map[bool][]string{
	false: {"redirect_dir=on,index=off,metacopy=off", ""},
	true:  {"userxattr,index=off", "userxattr"},
}

// Make mounts an overlay: for the whole machine, which takes root, or in the user namespace of this process. If it is mounted
// already that's no error. The folders are named by descriptors, because paths may have characters with a meaning among
// options, or be replaced by links meanwhile.
func Make(m Mount, namespaced bool) error {
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
	for _, further := range mountOptions[namespaced] {
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

// vacant refuses a mount point that holds files, because they are not ours.
func vacant(target string) error {
	held, err := os.ReadDir(target)
	if err != nil {
		return fmt.Errorf("mount on %s: %w", target, err)
	}
	for _, entry := range held {
		if entry.Name() != NoteFile {
			return fmt.Errorf("mount on %s: %w: move the files in it away", target, ErrOccupied)
		}
	}
	return nil
}

// Unmount unmounts everything at path; if nothing is mounted that's no error. By then no command of the environment runs.
// Another process that is still inside, a person's shell say, keeps seeing the old files.
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

// Trial makes the folders of an overlay in dir, for trying whether overlays work here.
func Trial(dir string) (Mount, error) {
	m := Mount{filepath.Join(dir, "lower"), Layer{dir}, filepath.Join(dir, "at")}
	for _, path := range []string{m.Lower + "/a", m.Lower + "/b/c", m.Layer.Upper(), m.Layer.Work(), m.Target} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return Mount{}, err
		}
	}
	return m, nil
}

// RemoveTrial unmounts and deletes what Trial made.
func RemoveTrial(dir string) error {
	return errors.Join(Unmount(filepath.Join(dir, "at")), folder.Remove(dir))
}

// Works tries a mounted trial: it replaces a folder that comes from below by an empty one and, if renames is set, renames
// another as git mv does.
func Works(at string, renames bool) error {
	if renames {
		if err := os.Rename(at+"/a", at+"/d"); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(at+"/b"), os.Mkdir(at+"/b", 0o700)); err != nil {
		return err
	}
	left, err := os.ReadDir(at + "/b")
	if err == nil && len(left) > 0 {
		err = errors.New("a folder that was replaced shows the files below it")
	}
	return err
}
