package clone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
)

// dependencyFolders are filled by package managers and only read by everything else.
var dependencyFolders = []string{"node_modules", "bower_components", ".venv", "venv", "vendor", "Pods", "deps"}

// addKept gives a clone that no command has written in what the base's has of ignored files, and HOME, where it is put on
// a base without an overlay. What the commit has itself stays.
func (e *Environment) addKept(ctx context.Context, m *made, into string) error {
	if m.Warm == nil {
		return nil
	}
	base := e.driver.bases.Path(m.Warm.Base)
	names, err := readIgnored(base)
	if err != nil {
		return errors.Join(errNoBase, err)
	}
	from, err := os.OpenRoot(filepath.Join(base, treeFolder))
	if err != nil {
		return errors.Join(errNoBase, err)
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenRoot(into)
	if err != nil {
		return fmt.Errorf("open the new clone: %w", err)
	}
	defer func() { _ = to.Close() }()
	m.Warm.Shared = nil
	c := newCopier(ctx)
	for _, name := range names {
		if m.Warm.Way == Shared && slices.Contains(dependencyFolders, name) && to.Mkdir(name, 0o755) == nil {
			m.Warm.Shared = append(m.Warm.Shared, name)
			continue
		}
		if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("copy %q of the base: %w", name, err)
		}
		c.entry(from, to, name)
	}
	return errors.Join(c.wait(), copyBetween(ctx, filepath.Join(base, homeFolder), e.layout.home()))
}

// showShared lays the base's dependency folders over the places that were made for them. In each
// sandbox of the environment they are mount points, so no command can put a link there.
func (e *Environment) showShared(m mounts) error {
	for _, name := range e.shared {
		if place := filepath.Join(e.layout.work, name); !isFolder(place) {
			return fmt.Errorf("show %s of the base: the folder made for it is gone: %w", name, ErrSandbox)
		}
		m[filepath.Join(workspace, name)] = mount{kind: readOnly, source: filepath.Join(e.base, treeFolder, name)}
	}
	return nil
}

// copier copies folders by as many goroutines as there are processors. The file system is asked
// to share the blocks (as os.File's ReadFrom does) where it can. Nothing that is there is replaced.
type copier struct {
	ctx   context.Context //nolint:containedctx // of one call
	free  chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex
	err   error
}

func newCopier(ctx context.Context) *copier {
	return &copier{ctx: ctx, free: make(chan struct{}, runtime.GOMAXPROCS(0))}
}

func (c *copier) wait() error {
	c.group.Wait()
	if c.err == nil {
		return c.ctx.Err()
	}
	return c.err
}

func (c *copier) failed(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil && err != nil && !errors.Is(err, fs.ErrExist) {
		c.err = err
	}
	return c.err != nil || c.ctx.Err() != nil
}

// folder copies what lies in a folder.
func (c *copier) folder(from, to *os.Root) {
	entries, err := fs.ReadDir(from.FS(), ".")
	if c.failed(err) {
		return
	}
	for _, entry := range entries {
		if c.failed(nil) {
			return
		}
		c.entry(from, to, entry.Name())
	}
}

func (c *copier) entry(from, to *os.Root, name string) {
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
		c.folder(below, target)
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
