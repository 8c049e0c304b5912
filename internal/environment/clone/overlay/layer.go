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

// Layer is what one environment wrote over one folder of a base, and the folder that the kernel
// needs beside it. It is built under another name and renamed, so it is whole or not there.
type Layer struct{ Path string }

// Upper holds what was written, Work is the kernel's; Gone is the name under which the layer is deleted.
func (l Layer) Upper() string { return filepath.Join(l.Path, "upper") }

// Work is described with Upper.
func (l Layer) Work() string { return filepath.Join(l.Path, "work") }

// Gone is described with Upper.
func (l Layer) Gone() string { return l.Path + ".old" }

// Mount is a folder of a base, the layer over it, and where both together are to be seen.
type Mount struct {
	Lower  string
	Layer  Layer
	Target string
}

// NewLayer makes an empty layer over lower; fill puts into it what differs from the start.
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

// likeness gives a folder the mode of another: the upper one's is what shows.
func likeness(of, dir string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	return os.Chmod(dir, info.Mode().Perm())
}

// opaqueMark is the attribute by which the kernel knows a folder that shows nothing from below, in namespaces and outside.
var opaqueMark = map[bool]string{false: "trusted.overlay.opaque", true: "user.overlay.opaque"}

// Hide makes a name of lower absent from a layer: a character device with number 0 stands for a deleted file, a mark on a folder
// for one that shows nothing from below.
func Hide(lower string, upper *os.Root, name string, namespaced bool) error {
	if err := makeParents(lower, upper, filepath.Dir(name)); err != nil {
		return err
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

// makeParents makes the folders above a hidden file as they are in the base.
func makeParents(lower string, upper *os.Root, dir string) error {
	path := ""
	for part := range strings.SplitSeq(dir, "/") {
		path = filepath.Join(path, part)
		if path == "." {
			continue
		}
		if err := upper.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := likeness(filepath.Join(lower, path), filepath.Join(upper.Name(), path)); err != nil {
			return err
		}
	}
	return nil
}

// Unhide takes back what Hide did. What the commit has at that name stays, and nothing is followed out of the layer.
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
