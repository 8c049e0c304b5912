package overlay

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment/clone/folder"
)

// Layer holds the files that one environment wrote over one folder of a snapshot, and the folder that the kernel
// needs beside them. It is built under another name and renamed, so it is complete or absent.
type Layer struct{ Path string }

// Upper returns the folder of the written files.
func (l Layer) Upper() string { return filepath.Join(l.Path, "upper") }

// Work returns the kernel's folder.
func (l Layer) Work() string { return filepath.Join(l.Path, "work") }

// Mount is a folder of a snapshot, the layer over it, and the place where both are mounted.
type Mount struct {
	Lower  string
	Layer  Layer
	Target string
}

// NewLayer makes a layer over lower. It is empty but for the files that fill, if it is not nil, puts into it.
func NewLayer(lower string, l Layer, fill func(upper *os.Root) error) error {
	fresh := Layer{l.Path + ".new"}
	if err := folder.Remove(fresh.Path); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(fresh.Upper(), 0o700), os.MkdirAll(fresh.Work(), 0o700), likeness(lower, fresh.Upper())); err != nil {
		return err
	}
	if fill != nil {
		upper, err := os.OpenRoot(fresh.Upper())
		if err != nil {
			return err
		}
		if err := errors.Join(fill(upper), upper.Close()); err != nil {
			return err
		}
	}
	return os.Rename(fresh.Path, l.Path)
}

// likeness gives dir the mode of the folder below it: commands see the mode of the upper one.
func likeness(of, dir string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	return os.Chmod(dir, info.Mode().Perm())
}

// opaqueMark is the attribute that makes a folder hide the one below it. It depends on whether the mount is in a user namespace.
var opaqueMark = map[bool]string{false: "trusted.overlay.opaque", true: "user.overlay.opaque"}

// Hide makes a name of lower absent from a layer: a character device with number 0 marks a deleted file, an attribute marks
// a folder that hides the one below.
func Hide(lower string, upper *os.Root, name string, namespaced bool) error {
	above := ""
	for part := range strings.SplitSeq(filepath.Dir(name), "/") { // the folders above it are as they are in the snapshot
		above = filepath.Join(above, part)
		if above == "." {
			continue
		}
		if err := upper.Mkdir(above, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := likeness(filepath.Join(lower, above), filepath.Join(upper.Name(), above)); err != nil {
			return err
		}
	}
	path := filepath.Join(upper.Name(), name)
	err := unix.Mknod(path, unix.S_IFCHR, 0)
	if errors.Is(err, fs.ErrExist) && folder.Is(path) {
		return unix.Setxattr(path, opaqueMark[namespaced], []byte("y"), 0)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Unhide undoes Hide. A file that the commit has at that name stays, and no link is followed out of the layer.
func Unhide(upper *os.Root, name string, namespaced bool) error {
	info, err := upper.Lstat(name)
	switch {
	case err != nil:
		return folder.Absence(err)
	case info.Mode()&fs.ModeCharDevice != 0:
		return upper.Remove(name)
	case !info.IsDir():
		return nil
	}
	dir, err := upper.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := unix.Fremovexattr(int(dir.Fd()), opaqueMark[namespaced]); err != nil && !errors.Is(err, unix.ENODATA) {
		return err
	}
	return nil
}
