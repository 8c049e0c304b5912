package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
)

// overlays are those of an environment, the work folder's first.
func (e *Environment) overlays(m *made) []overlay.Mount {
	base := e.driver.bases.Path(m.Warm.Base)
	list := []overlay.Mount{{Lower: filepath.Join(base, treeFolder), Layer: e.layout.treeLayer(), Target: e.layout.work}}
	if !m.Warm.Bare {
		list = append(list, overlay.Mount{Lower: filepath.Join(base, homeFolder), Layer: e.layout.homeLayer(), Target: e.layout.home()})
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
		if err := overlay.Make(o, false); err != nil {
			return err
		}
	}
	return nil
}

// makeLayers makes those that are not there, and the folders on which they are mounted.
func (e *Environment) makeLayers(ctx context.Context, m *made, overlays []overlay.Mount) error {
	for i, o := range overlays {
		if err := os.Mkdir(o.Target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make mount point: %w", err)
		}
		if folder.Is(o.Layer.Path) {
			continue
		}
		var err error
		if i == 0 {
			err = e.newTreeLayer(ctx, m, o.Lower)
		} else {
			err = overlay.NewLayer(o.Lower, o.Layer, nil)
		}
		if err != nil {
			return fmt.Errorf("prepare the layer for %s: %w", o.Target, err)
		}
	}
	return nil
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
	if !m.Warm.Bare && folder.Is(e.layout.importGit()) { // Make made it, and no command ever wrote in it
		prepare = func(_ context.Context, m *made, included []string) error { return e.excludeAdopted(m, included) }
	}
	if err := prepare(ctx, m, m.Brought); err != nil {
		return err
	}
	err := overlay.NewLayer(lower, e.layout.treeLayer(), func(upper *os.Root) error {
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

// hideIgnored makes what git ignores in the base absent from the layer.
func hideIgnored(base string, upper *os.Root, way Way) error {
	names, err := readIgnored(base)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := overlay.Hide(filepath.Join(base, treeFolder), upper, name, way == Private); err != nil {
			return fmt.Errorf("hide %q: %w", name, err)
		}
	}
	return nil
}

// replaceLayeredGit takes everything back that was written over the base's .git.
func (e *Environment) replaceLayeredGit(ctx context.Context, m *made) error {
	if err := errors.Join(e.driver.letGo(ctx, e.layout), overlay.Unmount(e.layout.work)); err != nil {
		return err
	}
	git := filepath.Join(e.layout.treeLayer().Upper(), ".git")
	if err := errors.Join(folder.Remove(git), e.writeGit(git, m.Warm.Commit)); err != nil {
		return err
	}
	return e.stack(ctx, m)
}
