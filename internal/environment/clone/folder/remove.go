package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove deletes a folder whatever the modes of those below it, and follows no link. It
// refuses to when something is mounted there, which it would delete as well.
func Remove(dir string) error {
	held, err := MountsBelow(dir)
	if err != nil {
		return err
	}
	if len(held) > 0 {
		return fmt.Errorf("delete %s: %w: %q", dir, errMounted, held)
	}
	err = os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := openFolders(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// openFolders lets us read and change every folder below dir.
func openFolders(dir string) error {
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return openFolder(root, filepath.Base(dir))
}

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
