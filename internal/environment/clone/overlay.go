package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// layer is what one environment wrote over one folder of a base, and the folder that the kernel
// needs beside it. It is built under another name and renamed, so it is whole or not there.
type layer struct{ path string }

func (l layer) upper() string { return filepath.Join(l.path, "upper") }
func (l layer) work() string  { return filepath.Join(l.path, "work") }
func (l layer) fresh() layer  { return layer{l.path + ".new"} }
func (l layer) gone() string  { return l.path + ".old" }

// stack mounts the environment on its base. What it wrote before a restart of the machine is there again.
func (e *Environment) stack(ctx context.Context, m *made) error {
	base := e.driver.bases.Path(m.Warm.Base)
	if whole, err := e.driver.bases.Published(m.Warm.Base); err != nil || !whole {
		return errors.Join(err, errNoBase)
	}
	tree := filepath.Join(base, treeFolder)
	if !isFolder(e.layout.treeLayer().path) {
		if err := e.newTreeLayer(ctx, m, tree); err != nil {
			return fmt.Errorf("prepare the layer for the work folder: %w", err)
		}
	}
	if err := mountLayer(tree, e.layout.treeLayer(), e.layout.work); err != nil || m.Warm.Bare {
		return err
	}
	home := filepath.Join(base, homeFolder)
	if !isFolder(e.layout.homeLayer().path) {
		if err := newLayer(home, e.layout.homeLayer(), nil); err != nil {
			return fmt.Errorf("prepare the layer for HOME: %w", err)
		}
	}
	return mountLayer(home, e.layout.homeLayer(), e.layout.home())
}

func mountLayer(lower string, l layer, target string) error {
	if err := os.Mkdir(target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make mount point: %w", err)
	}
	return mountOverlay(lower, l.upper(), l.work(), target)
}

// newLayer makes an empty layer over lower; fill puts into it what differs from the start.
func newLayer(lower string, l layer, fill func(upper *os.Root) error) error {
	fresh := l.fresh()
	if err := removeTree(fresh.path); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(fresh.upper(), 0o700), os.MkdirAll(fresh.work(), 0o700), likeness(lower, fresh.upper())); err != nil {
		return err
	}
	if fill != nil {
		upper, err := os.OpenRoot(fresh.upper())
		if err != nil {
			return err
		}
		if err := errors.Join(fill(upper), upper.Close()); err != nil {
			return err
		}
	}
	return os.Rename(fresh.path, l.path)
}

// likeness gives a folder the mode of another: the upper one's is what shows.
func likeness(of, folder string) error {
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	return os.Chmod(folder, info.Mode().Perm())
}

// newTreeLayer holds what distinguishes one environment from another on the same base: where
// HEAD is, its branch, what is ignored; and where only tracked files are to show, the absence of the others.
func (e *Environment) newTreeLayer(ctx context.Context, m *made, lower string) error {
	if m.Warm.Bare {
		included, err := e.driver.included(ctx)
		if err != nil {
			return err
		}
		m.Brought = included
	}
	prepare := e.makeImportGit
	if !m.Warm.Bare && isFolder(e.layout.importGit()) { // Make made it, and no command ever wrote in it
		prepare = func(_ context.Context, m *made, included []string) error { return e.excludeAdopted(m, included) }
	}
	if err := prepare(ctx, m, m.Brought); err != nil {
		return err
	}
	err := newLayer(lower, e.layout.treeLayer(), func(upper *os.Root) error {
		if err := e.writeGit(filepath.Join(upper.Name(), ".git"), m.Warm.Commit); err != nil || !m.Warm.Bare {
			return err
		}
		if err := e.bring(ctx, m, upper.Name()); err != nil {
			return err
		}
		return hideIgnored(filepath.Dir(lower), upper)
	})
	if err != nil {
		return err
	}
	return e.layout.save(m)
}

// writeGit writes what one environment's .git has beside the base's. It is not flushed: what a
// power cut spoils of it, the next Reset replaces.
func (e *Environment) writeGit(dir, commit string) error {
	ref := "refs/heads/" + e.spec.Branch
	excludes, err := os.ReadFile(filepath.Join(e.layout.importGit(), "info", "exclude"))
	if err != nil {
		return fmt.Errorf("read info/exclude: %w", err)
	}
	for name, content := range map[string]string{"HEAD": "ref: " + ref + "\n", ref: commit + "\n", "info/exclude": string(excludes)} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hideIgnored makes what git ignores in the base absent from the layer: a character device with
// number 0 stands for a deleted file, a mark on a folder for one that shows nothing from below.
func hideIgnored(base string, upper *os.Root) error {
	names, err := readIgnored(base)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := hide(filepath.Join(base, treeFolder), upper, name); err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	return nil
}

func hide(lower string, upper *os.Root, name string) error {
	if err := makeParents(lower, upper, filepath.Dir(name)); err != nil {
		return err
	}
	path := filepath.Join(upper.Name(), name)
	err := unix.Mknod(path, unix.S_IFCHR, 0)
	if errors.Is(err, fs.ErrExist) && isFolder(path) {
		return unix.Setxattr(path, "trusted.overlay.opaque", []byte("y"), 0)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// makeParents makes the folders above a hidden file as they are in the base.
func makeParents(lower string, upper *os.Root, dir string) error {
	path := ""
	for part := range strings.SplitSeq(dir, "/") {
		path = filepath.Join(path, part)
		if path == "." {
			continue
		}
		if err := upper.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := likeness(filepath.Join(lower, path), filepath.Join(upper.Name(), path)); err != nil {
			return err
		}
	}
	return nil
}

// replaceLayeredGit takes everything back that was written over the base's .git.
func (e *Environment) replaceLayeredGit(ctx context.Context, m *made) error {
	if err := unmount(e.layout.work); err != nil {
		return err
	}
	git := filepath.Join(e.layout.treeLayer().upper(), ".git")
	if err := errors.Join(removeTree(git), e.writeGit(git, m.Warm.Commit)); err != nil {
		return err
	}
	return e.stack(ctx, m)
}
