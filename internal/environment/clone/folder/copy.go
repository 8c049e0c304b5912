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

// Copier copies folders by as many goroutines as there are processors. The file system is asked
// to share the blocks (as os.File's ReadFrom does) where it can. Nothing that is there is replaced.
type Copier struct {
	ctx   context.Context //nolint:containedctx // of one call
	free  chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func NewCopier(ctx context.Context) *Copier {
	return &Copier{ctx: ctx, free: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

func (c *Copier) Wait() error {
	c.group.Wait()
	if c.err == nil {
		return c.ctx.Err()
	}
	return c.err
}

func (c *Copier) failed(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && err != nil && !errors.Is(err, fs.ErrExist) {
		c.err = err
	}
	return c.err != nil || c.ctx.Err() != nil
}

// all copies what lies in a folder.
func (c *Copier) all(from, to *os.Root) {
	entries, err := fs.ReadDir(from.FS(), ".")
	if c.failed(err) {
		return
	}
	for _, entry := range entries {
		if c.failed(nil) {
			return
		}
		c.Entry(from, to, entry.Name())
	}
}

func (c *Copier) Entry(from, to *os.Root, name string) {
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
		c.failed(copyKept(from, to, name, info))
	}
}

// subfolder copies a folder, in another goroutine where one is free.
func (c *Copier) subfolder(from, to *os.Root, name string, info fs.FileInfo) {
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
		c.all(below, target)
		c.failed(errors.Join(target.Chmod(".", info.Mode().Perm()), below.Close(), target.Close()))
	}
	select {
	case c.free <- struct{}{}:
		c.group.Go(func() { work(); <-c.free })
	default:
		work()
	}
}

func copyKept(from, to *os.Root, name string, info fs.FileInfo) error {
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

// ErrSource: the folder that is to be copied cannot be opened.
var ErrSource = errors.New("there is no folder to copy")

// Copy copies what lies in one folder into another; ErrSource where the first cannot be opened.
func Copy(ctx context.Context, from, to string) error {
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
	c := NewCopier(ctx)
	c.all(source, target)
	return c.Wait()
}
