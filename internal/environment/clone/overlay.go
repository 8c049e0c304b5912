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

// overlay is a folder of a base, the layer over it, and where both together are to be seen.
type overlay struct {
	lower  string
	layer  layer
	target string
}

// overlays are those of an environment, the work folder's first.
func (e *Environment) overlays(m *made) []overlay {
	base := e.driver.bases.Path(m.Warm.Base)
	list := []overlay{{filepath.Join(base, treeFolder), e.layout.treeLayer(), e.layout.work}}
	if !m.Warm.Bare {
		list = append(list, overlay{filepath.Join(base, homeFolder), e.layout.homeLayer(), e.layout.home()})
	}
	return list
}

// stack mounts the environment on its base. What it wrote before a restart of the machine is there again.
func (e *Environment) stack(ctx context.Context, m *made) error {
	if whole, err := e.driver.bases.Published(m.Warm.Base); err != nil || !whole {
		return errors.Join(err, errNoBase)
	}
	overlays := e.overlays(m)
	if err := e.makeLayers(ctx, m, overlays); err != nil {
		return err
	}
	if m.Warm.Way == Private {
		return e.mountPrivately(ctx, overlays)
	}
	for _, o := range overlays {
		if err := mountOverlay(o, overlayOptions); err != nil {
			return err
		}
	}
	return nil
}

// makeLayers makes those that are not there, and the folders on which they are mounted.
func (e *Environment) makeLayers(ctx context.Context, m *made, overlays []overlay) error {
	for i, o := range overlays {
		if err := os.Mkdir(o.target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make mount point: %w", err)
		}
		if isFolder(o.layer.path) {
			continue
		}
		var err error
		if i == 0 {
			err = e.newTreeLayer(ctx, m, o.lower)
		} else {
			err = newLayer(o.lower, o.layer, nil)
		}
		if err != nil {
			return fmt.Errorf("prepare the layer for %s: %w", o.target, err)
		}
	}
	return nil
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
		included, err := e.driver.Included(ctx)
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
		return hideIgnored(filepath.Dir(lower), upper, m.Warm.Way)
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
func hideIgnored(base string, upper *os.Root, way Way) error {
	names, err := readIgnored(base)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := hide(filepath.Join(base, treeFolder), upper, name, opaqueMark[way]); err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	return nil
}

// opaqueMark is the attribute by which the kernel knows a folder that shows nothing from below.
var opaqueMark = map[Way]string{Overlay: "trusted.overlay.opaque", Private: "user.overlay.opaque"}

func hide(lower string, upper *os.Root, name, mark string) error {
	if err := makeParents(lower, upper, filepath.Dir(name)); err != nil {
		return err
	}
	path := filepath.Join(upper.Name(), name)
	err := unix.Mknod(path, unix.S_IFCHR, 0)
	if errors.Is(err, fs.ErrExist) && isFolder(path) {
		return unix.Setxattr(path, mark, []byte("y"), 0)
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
	if err := errors.Join(e.driver.letGo(ctx, e.layout), unmount(e.layout.work)); err != nil {
		return err
	}
	git := filepath.Join(e.layout.treeLayer().upper(), ".git")
	if err := errors.Join(removeTree(git), e.writeGit(git, m.Warm.Commit)); err != nil {
		return err
	}
	return e.stack(ctx, m)
}
