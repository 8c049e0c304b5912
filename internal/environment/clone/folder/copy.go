package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// ErrSource: the folder to copy can't be opened.
var ErrSource = errors.New("there is no folder to copy")

// Copy copies names from one folder into another, or everything in it if names is nil. The folders above a name must exist in
// the target. Nothing that exists there is replaced. It returns ErrSource if it can't open the first folder.
func Copy(ctx context.Context, from, to string, names []string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return errors.Join(ErrSource, err)
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	c := &copier{ctx: ctx, free: make(chan struct{}, runtime.GOMAXPROCS(0))}
	c.copy(source, target, names)
	c.group.Wait()
	if c.err == nil {
		return ctx.Err()
	}
	return c.err
}

// copier copies with as many goroutines as there are processors. The file system shares the blocks where it can, because
// os.File's ReadFrom asks it to.
type copier struct {
	ctx   context.Context //nolint:containedctx // of one call
	free  chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

// failed records the first error and reports whether to stop.
func (c *copier) failed(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && err != nil && !errors.Is(err, fs.ErrExist) {
		c.err = err
	}
	return c.err != nil || c.ctx.Err() != nil
}

// copy copies names, or everything if names is nil. It copies subfolders in other goroutines while some are free.
func (c *copier) copy(from, to *os.Root, names []string) {
	if names == nil {
		entries, err := fs.ReadDir(from.FS(), ".")
		c.failed(err)
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
	}
	for _, name := range names {
		if c.failed(nil) {
			return
		}
		info, err := from.Lstat(name)
		if c.failed(err) {
			return
		}
		switch info.Mode().Type() {
		case fs.ModeDir:
			c.subfolder(from, to, name, info)
		case fs.ModeSymlink:
			target, err := from.Readlink(name)
			if !c.failed(err) {
				c.failed(to.Symlink(target, name))
			}
		case 0:
			c.failed(copyFile(from, to, name, info))
		}
	}
}

func (c *copier) subfolder(from, to *os.Root, name string, info fs.FileInfo) {
	if c.failed(to.Mkdir(name, 0o700)) {
		return
	}
	below, err := from.OpenRoot(name)
	if c.failed(err) {
		return
	}
	target, err := to.OpenRoot(name)
	if c.failed(err) {
		_ = below.Close()
		return
	}
	work := func() {
		c.copy(below, target, nil)
		c.failed(errors.Join(target.Chmod(".", info.Mode().Perm()), below.Close(), target.Close()))
	}
	select {
	case c.free <- struct{}{}:
		c.group.Go(func() { work(); <-c.free })
	default:
		work()
	}
}

// copyFile copies a regular file with its mode and time.
func copyFile(from, to *os.Root, name string, info fs.FileInfo) error {
	source, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Chmod(info.Mode().Perm()), target.Close(), to.Chtimes(name, info.ModTime(), info.ModTime()))
}
