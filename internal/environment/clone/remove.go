package clone

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"signalbox/internal/environment"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/process"
)

// Remove implements environment.Driver. It never deletes a folder that Signalbox didn't make.
func (d *Driver) Remove(ctx context.Context, s environment.Spec) (err error) {
	if err := Validate(s); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("remove environment %s: %w", s.ID, err)
		}
	}()
	l := d.layout(s)
	m, err := l.load()
	if err != nil {
		return err
	}
	there, err := findFolder(l.work)
	switch {
	case err != nil:
		return err
	case m == nil && there:
		return fmt.Errorf("%s: %w", l.work, ErrOccupied)
	case m != nil && m.Spec.Dir != s.Dir:
		return fmt.Errorf("%w: it has folder %s", environment.ErrOtherSpec, m.Spec.Dir)
	}
	if _, err := process.Sweep(ctx, l.tag); err != nil {
		return fmt.Errorf("end its processes: %w", err)
	}
	if err := errors.Join(d.retire(ctx, l), overlay.Unmount(l.home), overlay.RemoveTrial(l.trial)); err != nil {
		return err
	}
	if err := d.config.Repo.DropRef(ctx, importRefs+s.ID); err != nil {
		return fmt.Errorf("drop the ref of its commits: %w", err)
	}
	if err := folder.Remove(l.private); err != nil {
		return fmt.Errorf("delete private folder: %w", err)
	}
	return nil
}

// retire deletes the clone, but not HOME. It renames everything first, so that a crash never leaves half of it in place.
func (d *Driver) retire(ctx context.Context, l layout) error {
	if err := errors.Join(l.removeLeftovers(), d.letGo(ctx, l), overlay.Unmount(l.work)); err != nil {
		return err
	}
	// The mount point goes first: an empty one that stayed would count as a clone.
	for _, names := range [][2]string{{l.work, l.gone}, {l.treeLayer.Path, l.goneLayer}} {
		if err := os.Rename(names[0], names[1]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("rename the clone to delete it: %w", err)
		}
	}
	return l.removeLeftovers()
}

// removeLeftovers deletes folders that were being built or deleted.
func (l layout) removeLeftovers() error {
	return errors.Join(folder.Remove(l.fresh), folder.Remove(l.gone), folder.Remove(l.goneLayer))
}
