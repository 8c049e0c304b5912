package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotRegular: a symbolic link, a pipe, a device or a folder stands where a file should.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a file below dir without following a link at any level and without waiting
// for the other end of a pipe.
func OpenRegular(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if err := NoLinks(root, name); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(f.Close(), err, ErrNotRegular)
	}
	return f, nil
}

// NoLinks refuses a path of which any part is a symbolic link.
func NoLinks(root *os.Root, name string) error {
	for part := name; part != "."; part = filepath.Dir(part) {
		info, err := root.Lstat(part)
		if err != nil {
			return err
		}
		if info.Mode().Type() == fs.ModeSymlink {
			return fmt.Errorf("%q is a symbolic link: %w", part, ErrNotRegular)
		}
	}
	return nil
}

// Absence is nil if err says that there is no such file.
func Absence(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, ErrNotRegular) {
		return nil
	}
	return err
}
