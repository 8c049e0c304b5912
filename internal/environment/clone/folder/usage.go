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

// Usage is what folders take on the disk; of a file with several names it counts each.
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

// SameDevice reports whether a folder can be renamed to the other.
func SameDevice(a, b string) bool {
	var first, second unix.Stat_t
	return unix.Lstat(a, &first) == nil && unix.Lstat(b, &second) == nil && first.Dev == second.Dev
}

// SyncAll waits until the whole file system that dir lies on is on the disk. A base is begun from
// for months: a power cut must not leave it with empty files.
func SyncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("flush the base: %w", err)
	}
	if err := errors.Join(unix.Syncfs(int(f.Fd())), f.Close()); err != nil {
		return fmt.Errorf("flush the base: %w", err)
	}
	return nil
}
