package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

var temporaries atomic.Uint64

// temporary returns a name next to name that identifies the writing process, so that a sweep can tell whether it lives.
func (f *folder) temporary(name string) string {
	return fmt.Sprintf(".tmp-%d-%d-%d-%s", f.self.PID, f.self.Start, temporaries.Add(1), name)
}

// replace puts data at name durably: a reader sees the old content or the new one.
// The returned file is the new content, open, and the caller's to close. No step
// is ever repeated: after a failed fsync the kernel has dropped the pages, so a
// second one that succeeds proves nothing.
func (f *folder) replace(name string, data []byte, perm fs.FileMode) (*os.File, error) {
	file, err := f.replaceWith(name, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return nil, writeError(f.join(name), err)
	}
	return file, nil
}

// replaceWith is replace for content that is too large to hold in memory.
func (f *folder) replaceWith(name string, perm fs.FileMode, write func(io.Writer) error) (*os.File, error) {
	temp := f.temporary(name)
	file, err := f.open(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, uint32(perm))
	if err != nil {
		return nil, err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = f.rename(temp, name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), f.unlink(temp))
	}
	if err := f.dir.Sync(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// put is replace for callers that don't need the file.
func (f *folder) put(name string, data []byte, perm fs.FileMode) error {
	file, err := f.replace(name, data, perm)
	if err != nil {
		return err
	}
	return file.Close()
}
