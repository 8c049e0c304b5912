// Package private keeps small files that belong to the user alone, in the user's state folder and never in a repository, where untrusted people could
// write them. It refuses to read what another user could have written, and doesn't know what the files mean.
package private

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// State returns the path of the user's state folder: $XDG_STATE_HOME/signalbox, or ~/.local/state/signalbox.
func State(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // a relative path: the XDG specification says to ignore it
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("find the state folder: neither XDG_STATE_HOME nor HOME is an absolute path")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "signalbox"), nil
}

// Open opens a folder that belongs to the user alone.
func Open(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil {
		err = ownedAlone(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// Make opens a folder, and makes it if it's missing.
func Make(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return Open(path)
}

// OpenFile opens a file in a folder with these flags of os, and makes it for the user alone if the flags say so.
func OpenFile(root *os.Root, name string, flags int) (*os.File, error) {
	file, err := root.OpenFile(name, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = ownedAlone(filepath.Join(root.Name(), name), info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read returns the first most bytes of a file.
func Read(root *os.Root, name string, most int64) ([]byte, error) {
	file, err := OpenFile(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most))
}

// Replace writes a file so that a reader sees the old one or the new one, also after a crash.
func Replace(root *os.Root, name string, data []byte) error {
	temp := ".tmp-" + rand.Text()
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ownedAlone returns an error if another user owns the file or may write to it.
func ownedAlone(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 || !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not yours alone: remove it, or take it over with chown and chmod go-w", path)
	}
	return nil
}
