package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// read reads a document: a regular file with one name, so that nobody who may
// write in the project can make us read (or, later, replace) something else.
func (f *folder) read(name string) ([]byte, error) {
	file, data, _, err := f.readOpen(name)
	if err != nil {
		return nil, err
	}
	return data, file.Close()
}

// readOpen is read for a caller that wants to recognise the file later: while
// it is open its inode is not given to another.
func (f *folder) readOpen(name string) (*os.File, []byte, identity, error) {
	file, st, err := f.openRegular(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, identity{}, err
	}
	data, err := readAll(file, st.Size)
	if err != nil {
		return nil, nil, identity{}, errors.Join(err, file.Close())
	}
	return file, data, identityOf(st), nil
}

func readAll(file *os.File, size int64) ([]byte, error) {
	if size > maxDocument {
		return nil, broken(file.Name(), nil, fmt.Errorf("larger than %d bytes", maxDocument))
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buffer.ReadFrom(io.LimitReader(file, maxDocument+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	return buffer.Bytes(), nil
}

// openRegular refuses what is no regular file with at most one name; none is
// left to one that was replaced since it was opened.
func (f *folder) openRegular(name string, flag int, perm uint32) (*os.File, unix.Stat_t, error) {
	file, err := f.open(name, flag, perm)
	if errors.Is(err, unix.ELOOP) {
		err = broken(f.join(name), nil, errors.New("a symbolic link where a file is expected"))
	}
	if err != nil {
		return nil, unix.Stat_t{}, err
	}
	st, err := fstat(file)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = broken(f.join(name), nil, errors.New("not a regular file"))
	}
	if err == nil && st.Nlink > 1 {
		err = broken(f.join(name), nil, errors.New("a hard link to another file"))
	}
	if err != nil {
		return nil, st, errors.Join(err, file.Close())
	}
	return file, st, nil
}
