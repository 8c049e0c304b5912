package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/process"
)

// folder is an open directory below the project root. Its files are reached by
// single names relative to its descriptor and never through a link. os.Root alone
// doesn't promise that: it follows links that stay inside.
type folder struct {
	dir *os.File
	// path is relative to the project root.
	path string
	self process.Identity
	// readOnly: nothing in it is opened for writing, made, renamed or removed.
	readOnly bool
}

func (s *Store) openFolder(name string) (*folder, error) {
	dir, err := s.root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("open folder %s: %w", name, err)
	}
	return &folder{dir: dir, path: name, self: s.self, readOnly: s.readOnly}, nil
}

// makeFolder opens name after making it and its parents durably.
func (s *Store) makeFolder(name string, perm fs.FileMode) (*folder, error) {
	if f, err := s.openFolder(name); !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	parent, err := s.openFolder(".")
	if dir := path.Dir(name); dir != "." && err == nil {
		parent.close()
		parent, err = s.makeFolder(dir, perm)
	}
	if err != nil {
		return nil, err
	}
	defer parent.close()
	if err := parent.mkdir(path.Base(name), perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := parent.dir.Sync(); err != nil {
		return nil, writeError(name, err)
	}
	return s.openFolder(name)
}

func (f *folder) fd() int { return int(f.dir.Fd()) }
func (f *folder) close()  { _ = f.dir.Close() }

func (f *folder) mayWrite(op, name string) error {
	if f.readOnly {
		return &fs.PathError{Op: op, Path: f.join(name), Err: ErrReadOnly}
	}
	return nil
}

func (f *folder) join(name string) string { return path.Join(f.path, name) }

// open opens one name. A link is ELOOP.
func (f *folder) open(name string, flag int, perm uint32) (*os.File, error) {
	fd, err := f.openat(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.join(name)), nil
}

// openat is open for a descriptor that its caller closes itself: an os.File costs
// two system calls and a finalizer.
func (f *folder) openat(name string, flag int, perm uint32) (fd int, err error) {
	if name == "" || name == "." || name == ".." || strings.IndexByte(name, '/') >= 0 || strings.IndexByte(name, 0) >= 0 {
		return -1, fmt.Errorf("open %q in %s: %w", name, f.path, ErrName)
	}
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE) != 0 {
		if err := f.mayWrite("open", name); err != nil {
			return -1, err
		}
	}
	if flag&os.O_EXCL == 0 {
		flag |= unix.O_NONBLOCK // a FIFO would block for ever
	}
	for err = unix.EINTR; err == unix.EINTR; {
		fd, err = unix.Openat(f.fd(), name, flag|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: f.join(name), Err: err}
	}
	return fd, nil
}

func (f *folder) mkdir(name string, perm fs.FileMode) error {
	if err := f.mayWrite("mkdir", name); err != nil {
		return err
	}
	if err := unix.Mkdirat(f.fd(), name, uint32(perm)); err != nil {
		return &fs.PathError{Op: "mkdir", Path: f.join(name), Err: err}
	}
	return nil
}

func (f *folder) rename(from, to string) error {
	if err := f.mayWrite("rename", from); err != nil {
		return err
	}
	if err := unix.Renameat(f.fd(), from, f.fd(), to); err != nil {
		return &fs.PathError{Op: "rename", Path: f.join(to), Err: err}
	}
	return nil
}

func (f *folder) unlink(name string) error {
	if err := f.mayWrite("remove", name); err != nil {
		return err
	}
	if err := unix.Unlinkat(f.fd(), name, 0); err != nil {
		return &fs.PathError{Op: "remove", Path: f.join(name), Err: err}
	}
	return nil
}

// remove removes a document durably; a missing one is no error.
func (f *folder) remove(name string) error {
	err := f.unlink(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // its remover may have died before that was durable
		err = f.dir.Sync()
	}
	if err != nil {
		return writeError(f.join(name), err)
	}
	return nil
}

// identity tells one content of a file from another without reading it.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

func identityOf(st unix.Stat_t) identity {
	return identity{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim, ctime: st.Ctim}
}

// stat identifies the file at name, or the link itself if it is one.
func (f *folder) stat(name string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(f.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return identity{}, &fs.PathError{Op: "stat", Path: f.join(name), Err: err}
	}
	return identityOf(st), nil
}

func fstat(file *os.File) (unix.Stat_t, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return st, &fs.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	return st, nil
}
