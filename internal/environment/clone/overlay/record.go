package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Note adds this process to the record, so that others find the namespace through it.
func (n *Namespace) Note() error {
	line := strconv.Itoa(os.Getpid())
	for _, f := range n.files() {
		line += " " + strconv.Itoa(int(f.Fd()))
	}
	if _, err := n.record.WriteString(line + "\n"); err != nil {
		return fmt.Errorf("note who holds the mounts: %w", err)
	}
	return nil
}

// BeginRecord replaces the record at path with a new one, which is this namespace's from now on.
func (n *Namespace) BeginRecord(path string) error {
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin the record of mounts: %w", err)
	}
	f, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err == nil {
		n.record, err = f, os.Rename(fresh, path)
	}
	if err != nil {
		return fmt.Errorf("begin the record of mounts: %w", err)
	}
	return nil
}

// Join opens the namespace of a record through a process that holds it, and returns nil if none does. A line of the record names
// a process and its files. If that process has this very record open as the line says, it wrote the line: it is no later
// process with the same id.
func Join(record string) *Namespace {
	list, err := os.ReadFile(record)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(list)) {
		holder := strings.Fields(line)
		if len(holder) != 1+len((&Namespace{}).files()) {
			continue
		}
		open := func(word, flags int) *os.File {
			f, _ := os.OpenFile(filepath.Join("/proc", holder[0], "fd", holder[word]), flags, 0)
			return f
		}
		n := &Namespace{record: open(1, os.O_WRONLY|os.O_APPEND), user: open(2, os.O_RDONLY), mounts: open(3, os.O_RDONLY), root: open(4, unix.O_PATH|unix.O_DIRECTORY)}
		info, err := os.Lstat(record)
		valid := err == nil && !slices.Contains(n.files(), nil) && n.IsListedIn(info)
		for _, f := range []*os.File{n.user, n.mounts} {
			var s unix.Statfs_t
			valid = valid && unix.Fstatfs(int(f.Fd()), &s) == nil && s.Type == unix.NSFS_MAGIC
		}
		if valid {
			return n
		}
		n.Close()
	}
	return nil
}
