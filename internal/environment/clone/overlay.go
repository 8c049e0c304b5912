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

// overlays returns the overlays of an environment: the work folder's first if it has one.
func (e *Environment) overlays(m *made) []overlay.Mount {
	snapshot := e.driver.snapshots.Path(m.Warm.Snapshot)
	list := []overlay.Mount{}
	if m.Warm.isLayered() {
		list = append(list, overlay.Mount{Lower: filepath.Join(snapshot, treeFolder), Layer: e.layout.treeLayer, Target: e.layout.work})
	}
	if !m.Warm.Bare {
		list = append(list, overlay.Mount{Lower: filepath.Join(snapshot, homeFolder), Layer: e.layout.homeLayer, Target: e.layout.home})
	}
	return list
}

// stack mounts the environment over its snapshot. It makes missing layers; files that were written before a restart of the
// machine are there again.
func (e *Environment) stack(ctx context.Context, m *made) error {
	if whole, err := e.driver.snapshots.Published(m.Warm.Snapshot); err != nil || !whole {
		return errors.Join(err, errNoSnapshot)
	}
	overlays := e.overlays(m)
	for _, o := range overlays {
		if err := os.Mkdir(o.Target, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make mount point: %w", err)
		}
		if folder.Is(o.Layer.Path) {
			continue
		}
		var err error
		if o.Target == e.layout.work {
			err = e.newTreeLayer(ctx, m, o.Lower)
		} else {
			err = overlay.NewLayer(o.Lower, o.Layer, nil)
		}
		if err != nil {
			return fmt.Errorf("prepare the layer for %s: %w", o.Target, err)
		}
	}
	if m.Warm.Way == Private {
		if err := os.WriteFile(filepath.Join(e.layout.work, overlay.NoteFile), []byte(noteText), 0o600); err != nil {
			return fmt.Errorf("note where the files are: %w", err)
		}
	}
	if m.Warm.isHidden() {
		e.driver.holding.Lock()
		defer e.driver.holding.Unlock()
		_, err := e.hold(ctx, true)
		return err
	}
	for _, o := range overlays {
		if err := overlay.Make(o, false); err != nil {
			return err
		}
	}
	return nil
}

// newTreeLayer makes the layer with the differences between environments on the same snapshot: HEAD, the branch and the exclude
// file. For a bare environment it also hides all but the tracked files.
func (e *Environment) newTreeLayer(ctx context.Context, m *made, lower string) (err error) {
	if m.Warm.Bare {
		if m.Brought, err = e.driver.Included(ctx); err != nil {
			return err
		}
	}
	if !m.Warm.Bare && folder.Is(e.layout.importGit) { // Make made it, and no command ever wrote in it
		err = e.excludeAdopted(m, m.Brought)
	} else {
		err = e.makeImportGit(m, m.Brought)
	}
	if err != nil {
		return err
	}
	err = overlay.NewLayer(lower, e.layout.treeLayer, func(upper *os.Root) error {
		if err := e.writeGit(filepath.Join(upper.Name(), ".git"), m.Warm.Commit); err != nil || !m.Warm.Bare {
			return err
		}
		if err := e.bring(ctx, m, upper.Name()); err != nil {
			return err
		}
		ignored, err := readIgnored(filepath.Dir(lower))
		if err != nil {
			return err
		}
		for _, name := range ignored {
			if err := overlay.Hide(lower, upper, name, m.Warm.Way == Private); err != nil {
				return fmt.Errorf("hide %q: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.layout.save(m)
}

// writeGit writes the parts of one environment's .git that differ from the snapshot's. It doesn't flush them: the next Reset
// replaces files that a power cut spoiled.
func (e *Environment) writeGit(dir, commit string) error {
	ref := "refs/heads/" + e.spec.Branch
	excludes, err := os.ReadFile(filepath.Join(e.layout.importGit, "info", "exclude"))
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
