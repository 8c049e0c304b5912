package git

import (
	"context" //nolint:gosec // see stored
	"errors"
	"fmt"
	"io/fs"
	"os"
	pathpkg "path"
	"path/filepath"
	"strings"
	"syscall"

	"signalbox/internal/git/gitcmd"
)

// check finds what is in the way, and what is still to do.
func (c *checkout) check(ctx context.Context) error {
	entries, err := c.inIndex(ctx)
	if err != nil {
		return fmt.Errorf("compare index of %s: %w", c.dir, err)
	}
	index := make(map[string]Change, len(entries))
	for _, entry := range entries {
		index[entry.Path] = entry
	}
	c.notOld, err = c.differing(ctx, func(f Change) (string, string) { return f.OldMode, f.OldID })
	if err == nil {
		c.notNew, err = c.differing(ctx, func(f Change) (string, string) { return f.NewMode, f.NewID })
	}
	if err != nil {
		return fmt.Errorf("compare checkout %s: %w", c.dir, err)
	}
	c.unstaged = nil
	var blocked []string
	for _, f := range c.changes {
		entry, differs := index[f.Path]
		if !differs {
			c.unstaged = append(c.unstaged, f)
		}
		staged := differs && (entry.NewMode != f.NewMode || entry.NewID != f.NewID) // as neither commit has it
		asOld := c.is(f.Path, f.OldMode, f.NewMode, c.notOld)
		reserved := f.Path == stageDir || strings.HasPrefix(f.Path, stageDir+"/")
		if reserved || staged || !asOld && !c.is(f.Path, f.NewMode, f.OldMode, c.notNew) {
			blocked = append(blocked, f.Path)
		}
	}
	if len(blocked) > 0 {
		return &CheckoutError{Dir: c.dir, Paths: blocked}
	}
	return nil
}

// inIndex returns the entries of the index that differ from the old commit. A merge asks before it
// begins and again right before it writes: until git replaces the index, the answer stays the same.
func (c *checkout) inIndex(ctx context.Context) ([]Change, error) {
	var state *indexState // identifies the index file; nil if its place isn't known
	var s syscall.Stat_t
	if c.dir == c.repo.git.Root && !c.repo.linked() && syscall.Lstat(filepath.Join(c.repo.git.GitDir, "index"), &s) == nil {
		state = &indexState{c.old, s.Dev, s.Ino, s.Size, s.Mtim, s.Ctim}
	}
	known := &c.repo.compared.index
	known.mu.Lock()
	defer known.mu.Unlock()
	if state != nil && known.of != nil && *known.of == *state {
		return known.entries, nil
	}
	args := []string{"diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", c.old, "--"}
	out, err := c.repo.git.Run(ctx, gitcmd.Call{Args: args, Dir: c.dir, User: true})
	if err != nil {
		return nil, err
	}
	entries, _, err := parseRaw(out)
	if err == nil {
		known.of, known.entries = state, entries
	}
	return entries, err
}

// differing returns the files of one side that differ in the checkout. It asks git, with an index of
// only that side, because only git knows how the user's line endings and filters make a file from a
// blob.
func (c *checkout) differing(ctx context.Context, side func(Change) (mode, id string)) (map[string]bool, error) {
	otherwise := map[string]bool{}
	var entries strings.Builder
	for _, f := range c.changes {
		if mode, id := side(f); mode != Absent && mode != Gitlink {
			switch c.stored(f.Path, mode) {
			case id:
				continue
			case f.OldID, f.NewID: // the other side
				otherwise[f.Path] = true
				continue
			}
			fmt.Fprintf(&entries, "%s %s\t%s\x00", mode, id, f.Path)
		}
	}
	if entries.Len() == 0 {
		return otherwise, nil
	}
	if err := c.scratchIndex(ctx, entries.String()); err != nil {
		return nil, err
	}
	defer c.removeScratchIndex()
	// It compares contents, and exits 1 when some differ.
	_, err := c.repo.git.Run(ctx, c.scratch("update-index", "-q", "--refresh"))
	if err != nil && !gitcmd.Exited(err, 1) {
		return nil, err
	}
	out, err := c.repo.git.Run(ctx, c.scratch("diff-files", "--name-only", "-z"))
	if err != nil {
		return nil, err
	}
	differing := otherwise
	for path := range strings.SplitSeq(string(out), "\x00") {
		differing[path] = true
	}
	return differing, nil
}

// stored returns the id of a checkout's file taken as it is, without filters or line endings; empty if
// git must look. A file that equals one of the two sides byte for byte is that side.
func (c *checkout) stored(path, mode string) string {
	for dir := pathpkg.Dir(path); dir != "."; dir = pathpkg.Dir(dir) {
		if !c.isDir(dir) {
			return ""
		}
	}
	info, err := c.root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxInline || mode != Regular && mode != Executable ||
		(info.Mode()&0o100 != 0) != (mode == Executable) {
		return ""
	}
	data, err := c.root.ReadFile(path)
	if err != nil {
		return ""
	}
	return objectName("blob", data, len(c.old))
}

// scratchIndex makes an index that holds only the given entries.
func (c *checkout) scratchIndex(ctx context.Context, entries string) error {
	c.removeScratchIndex()
	fill := c.scratch("update-index", "-z", "--index-info")
	fill.Input = entries
	_, err := c.repo.git.Run(ctx, fill)
	return err
}

func (c *checkout) removeScratchIndex() {
	_ = os.Remove(c.index)
	_ = os.Remove(c.index + ".lock")
}

func (c *checkout) scratch(args ...string) gitcmd.Call {
	return gitcmd.Call{
		Args: args, Config: []string{"core.splitIndex=false", "core.untrackedCache=false"},
		Dir: c.dir, Env: []string{"GIT_INDEX_FILE=" + c.index}, User: true, Limit: gitcmd.Slow,
	}
}

// is reports whether path is in the checkout as the side with this mode has it.
func (c *checkout) is(path, mode, otherMode string, differing map[string]bool) bool {
	switch mode {
	case Gitlink:
		// A submodule's files are never touched, so they are always right, unless a file of this
		// repository takes their place.
		keeps := otherMode == Gitlink || otherMode == Absent
		return keeps && c.isDir(path) || c.free(path)
	case Absent:
		return c.free(path)
	default:
		return !differing[path]
	}
}

func (c *checkout) isDir(path string) bool {
	info, err := c.root.Lstat(path)
	return err == nil && info.IsDir()
}

// free reports whether only files that the change itself removes are at path. Folders above it must be
// folders: a link leads elsewhere.
func (c *checkout) free(path string) bool {
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		info, err := c.root.Lstat(path[:i])
		if err != nil { // ENOTDIR: a file above it
			return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
		}
		if !info.IsDir() {
			return i < len(path) && c.changed[path[:i]]
		}
	}
	err := fs.WalkDir(c.root.FS(), path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !c.changed[path] {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil
}
