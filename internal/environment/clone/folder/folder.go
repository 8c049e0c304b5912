// Package folder handles folders of this machine in which untrusted commands wrote: it looks for mounts in them, copies and
// deletes them, and follows no link out of them.
package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// Is reports whether path is a folder and not a link to one.
func Is(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// ErrNotRegular: there is a symbolic link, a pipe, a device or a folder where a file should be.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a file below dir. It follows no link at any level and doesn't wait for the other end of a pipe.
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

// NoLinks refuses a path if any part of it is a symbolic link.
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

// Absence returns nil if err says that there is no such file, and err otherwise.
func Absence(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, ErrNotRegular) {
		return nil
	}
	return err
}

// Usage returns the disk space that folders take. A file with several names counts once per name.
func Usage(ctx context.Context, dirs ...string) (bytes, files int64, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			if s, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += s.Blocks * 512
			} else {
				bytes += info.Size()
			}
			files++
			return ctx.Err()
		})
		if err != nil {
			return 0, 0, fmt.Errorf("measure %s: %w", dir, err)
		}
	}
	return bytes, files, nil
}

// SameDevice reports whether one folder can be renamed into the other.
func SameDevice(a, b string) bool {
	var first, second unix.Stat_t
	return unix.Lstat(a, &first) == nil && unix.Lstat(b, &second) == nil && first.Dev == second.Dev
}

// SyncAll flushes the whole file system of dir to the disk. Environments start from a snapshot for months: a power cut must
// not leave it with empty files.
func SyncAll(dir string) error {
	f, err := os.Open(dir)
	if err == nil {
		err = errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
	}
	if err != nil {
		return fmt.Errorf("flush %s: %w", dir, err)
	}
	return nil
}
