package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"signalbox/internal/store/strict"
)

// read reads a document: a regular file with one name, so that no program that
// writes in the project can make us read (or, later, replace) something else.
func (f *folder) read(name string) ([]byte, error) {
	fd, err := f.openat(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, f.linkRefused(name, err)
	}
	data, _, err := f.readRegular(name, fd)
	if closing := unix.Close(fd); err == nil && closing != nil {
		err = &fs.PathError{Op: "close", Path: f.join(name), Err: closing}
	}
	return data, err
}

// readOpen is read for a caller that wants to recognise the file later: while it
// is open, no other file gets its inode.
func (f *folder) readOpen(name string) (*os.File, []byte, identity, error) {
	file, err := f.open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, identity{}, f.linkRefused(name, err)
	}
	data, st, err := f.readRegular(name, int(file.Fd()))
	if err != nil {
		return nil, nil, identity{}, errors.Join(err, file.Close())
	}
	return file, data, identityOf(st), nil
}

// readRegular reads a file. It has ended when a read that had room for more
// brought exactly its size: bytes appended later belong to another version.
func (f *folder) readRegular(name string, fd int) ([]byte, unix.Stat_t, error) {
	st, err := f.regular(name, fd)
	if err == nil && st.Size > strict.MaxSize {
		err = broken(f.join(name), nil, fmt.Errorf("larger than %d bytes", strict.MaxSize))
	}
	if err != nil {
		return nil, st, err
	}
	size := int(st.Size)
	data := make([]byte, 0, size+1)
	for len(data) <= strict.MaxSize {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, st, &fs.PathError{Op: "read", Path: f.join(name), Err: err}
		}
		data = data[:len(data)+n]
		if n == 0 || len(data) == size {
			break
		}
		data = slices.Grow(data, 1)
	}
	return data, st, nil
}

// openRegular refuses anything but a regular file with at most one name. A file
// that was replaced after it was opened has none.
func (f *folder) openRegular(name string, flag int, perm uint32) (*os.File, unix.Stat_t, error) {
	file, err := f.open(name, flag, perm)
	if err != nil {
		return nil, unix.Stat_t{}, f.linkRefused(name, err)
	}
	st, err := f.regular(name, int(file.Fd()))
	if err != nil {
		return nil, st, errors.Join(err, file.Close())
	}
	return file, st, nil
}

func (f *folder) linkRefused(name string, err error) error {
	if errors.Is(err, unix.ELOOP) {
		return broken(f.join(name), nil, errors.New("a symbolic link where a file is expected"))
	}
	return err
}

func (f *folder) regular(name string, fd int) (st unix.Stat_t, err error) {
	if err := unix.Fstat(fd, &st); err != nil {
		return st, &fs.PathError{Op: "stat", Path: f.join(name), Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return st, broken(f.join(name), nil, errors.New("a folder where a file is expected"))
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return st, broken(f.join(name), nil, errors.New("not a regular file"))
	case st.Nlink > 1:
		return st, broken(f.join(name), nil, errors.New("a hard link to another file"))
	}
	return st, nil
}
