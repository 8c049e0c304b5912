package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"signalbox/internal/forge"
)

// readings caches the request files in memory, so a process reads an unchanged file once.
type readings struct {
	mu    sync.Mutex
	files map[string]reading // by file name
}

type reading struct {
	of      fileState
	request forge.Request
	err     error
}

// fileState distinguishes two versions of a file without reading it.
type fileState struct {
	dev, ino, links uint64
	size            int64
	mtime, ctime    syscall.Timespec
}

// settled is how old a file's last change must be before its times are trusted: some file systems count
// time in ticks, and two writes within one tick show the same time.
const settled = 2 * time.Second

// request returns the request of a file, which it reads only if the file changed.
func (r *readings) request(folder *os.Root, name string, at time.Time) (forge.Request, error) {
	listed, err := folder.Lstat(name)
	if err != nil {
		return forge.Request{}, err
	}
	now := stateOf(listed)
	r.mu.Lock()
	known, ok := r.files[name]
	r.mu.Unlock()
	if ok && known.of == now {
		return known.request, known.err
	}
	request, err := readRequest(folder, name, listed)
	if age := at.Sub(time.Unix(now.ctime.Unix())); age > settled {
		r.mu.Lock()
		if r.files == nil {
			r.files = map[string]reading{}
		}
		r.files[name] = reading{now, request, err}
		r.mu.Unlock()
	}
	return request, err
}

func stateOf(listed fs.FileInfo) (state fileState) {
	if st, ok := listed.Sys().(*syscall.Stat_t); ok {
		state = fileState{dev: uint64(st.Dev), ino: st.Ino, links: uint64(st.Nlink), size: st.Size, mtime: st.Mtim, ctime: st.Ctim} //nolint:unconvert // the types differ by platform
	}
	return state
}

// readRequest reads a regular file with a single name: a symbolic or hard link could lead to a file that
// its author may not read.
func readRequest(folder *os.Root, name string, listed fs.FileInfo) (forge.Request, error) {
	if !listed.Mode().IsRegular() {
		return forge.Request{}, errors.New("not a regular file")
	}
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return forge.Request{}, err
	}
	defer func() { _ = file.Close() }()
	opened, err := file.Stat()
	if err != nil {
		return forge.Request{}, err
	}
	if stat, ok := opened.Sys().(*syscall.Stat_t); !os.SameFile(listed, opened) || !ok || stat.Nlink != 1 {
		return forge.Request{}, errors.New("the file has more than one name")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxRequestBytes+1))
	if err != nil {
		return forge.Request{}, err
	}
	if len(data) > maxRequestBytes {
		return forge.Request{}, fmt.Errorf("larger than %d bytes", maxRequestBytes)
	}
	return parseRequest(data)
}
