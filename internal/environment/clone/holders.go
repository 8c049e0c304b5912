package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"signalbox/internal/environment"
	"signalbox/internal/flock"
	"signalbox/internal/process"
)

// hold takes hold of the namespace that others hold, or makes another. Unless anew it must not be
// the first: without a record the environment is being made anew by somebody else.
func (e *Environment) hold(ctx context.Context, anew bool) (*namespace, error) {
	d := e.driver
	if d.config.Unsandboxed || d.config.OnHost {
		return nil, fmt.Errorf("%w: it was made for a sandbox that mounts its folders, and commands no longer run in one", environment.ErrOtherSpec)
	}
	unlock, err := e.layout.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	_, err = os.Lstat(e.layout.holders())
	first := anew && errors.Is(err, fs.ErrNotExist)
	if err != nil && !first {
		return nil, fmt.Errorf("look for the environment's mounts: %w", err)
	}
	n := join(e.layout.holders())
	if n == nil {
		if n, err = e.mountAnew(ctx, first); err != nil {
			return nil, err
		}
	}
	d.held[e.layout.private].close()
	d.held[e.layout.private] = n
	return n, n.note()
}

// note adds this process to the record, for others to find the namespace by.
func (n *namespace) note() error {
	line := strconv.Itoa(os.Getpid())
	for _, f := range n.files() {
		line += " " + strconv.Itoa(int(f.Fd()))
	}
	if _, err := n.record.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("note who holds the mounts: %w", err)
	}
	return nil
}

// mountAnew mounts what the marker says in a new namespace, and begins a new record. From then on
// there is one, also when every holder or the machine was ended, so that nobody takes the empty
// mount point for the work folder.
func (e *Environment) mountAnew(ctx context.Context, first bool) (*namespace, error) {
	if !first { // who held it may have died a moment ago, and what it ran be about to
		if _, err := process.SweepOrphans(ctx, e.driver.tag()); err != nil {
			return nil, fmt.Errorf("end what still uses its folders: %w", err)
		}
	}
	m, err := e.marker()
	if err != nil {
		return nil, err
	}
	if m.Warm == nil || m.Warm.Way != Private {
		return nil, fmt.Errorf("mount its folders: %w", errNoBase)
	}
	n, err := newNamespace(ctx, e.overlays(m), e.driver.addresses())
	if err != nil {
		return nil, err
	}
	if n.record, err = beginRecord(e.layout.holders()); err != nil {
		n.close()
		return nil, fmt.Errorf("begin the record of mounts: %w", err)
	}
	return n, nil
}

// beginRecord puts a new file in the place of a record.
func beginRecord(path string) (*os.File, error) {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// join takes hold of the namespace of a record through a process that holds it; nil if there is none.
func join(record string) *namespace {
	list, err := os.ReadFile(record)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(list)) {
		if n := joined(record, strings.Fields(line)); n != nil {
			return n
		}
	}
	return nil
}

// joined takes hold by a line of the record. A process that has this very record open as the line
// says is the one that wrote it, and no later one with its id.
func joined(record string, holder []string) *namespace {
	if len(holder) != 1+len((&namespace{}).files()) {
		return nil
	}
	open := func(word, flags int) *os.File {
		f, _ := os.OpenFile(filepath.Join("/proc", holder[0], "fd", holder[word]), flags, 0)
		return f
	}
	n := &namespace{record: open(1, os.O_WRONLY|os.O_APPEND), user: open(2, os.O_RDONLY), mounts: open(3, os.O_RDONLY), root: open(4, unix.O_PATH|unix.O_DIRECTORY)}
	info, err := os.Lstat(record)
	if err != nil || slices.Contains(n.files(), nil) || !n.isListedIn(info) || !isNamespace(n.user) || !isNamespace(n.mounts) {
		n.close()
		return nil
	}
	return n
}

func isNamespace(f *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &s) == nil && s.Type == unix.NSFS_MAGIC
}

// letGo lets go of an environment's namespace, and says that it has none. Another process that
// holds it sees that at its next call; until then it holds what nobody writes to.
func (d *Driver) letGo(ctx context.Context, l layout) error {
	d.holding.Lock()
	defer d.holding.Unlock()
	d.held[l.private].close()
	delete(d.held, l.private)
	if !isFolder(l.private) {
		return nil
	}
	unlock, err := l.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Remove(l.holders()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the record of mounts: %w", err)
	}
	return nil
}

// lock keeps others from mounting at the same time: what is locked is the environment's private folder.
func (l layout) lock(ctx context.Context) (unlock func(), err error) {
	f, err := os.Open(l.private)
	if err == nil {
		err = flock.Wait(ctx, f)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the environment's mounts: %w", err)
	}
	return func() { _ = flock.Release(f) }, nil
}
