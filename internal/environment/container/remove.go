package container

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone"
	"signalbox/internal/environment/container/engine"
	"signalbox/internal/lazy"
)

// Remove implements environment.Driver. The container goes first: while the environment's private folder
// exists, other processes may still look for the container.
func (d *Driver) Remove(ctx context.Context, s environment.Spec) error {
	if err := clone.Validate(s); err != nil {
		return err
	}
	if err := d.removeContainer(ctx, d.containers+s.ID); err != nil {
		return fmt.Errorf("remove container of environment %s: %w", s.ID, hint(err))
	}
	if err := d.dropImage(ctx, d.savedAs(s.ID)); err != nil {
		return fmt.Errorf("remove saved container of environment %s: %w", s.ID, hint(err))
	}
	s.Image = "" // the work folder doesn't depend on it
	return d.clone.Remove(ctx, s)
}

// Prune deletes snapshots as the clone driver does, and their images.
func (d *Driver) Prune(ctx context.Context, limit int64, dry bool) ([]cache.Entry, error) {
	gone, err := d.clone.Prune(ctx, limit, dry)
	if !dry {
		for _, entry := range gone {
			err = errors.Join(err, d.dropImage(ctx, d.kept(entry.Key)))
		}
	}
	return gone, hint(err)
}

func (d *Driver) removeContainer(ctx context.Context, name string) error {
	_, err := d.engine.Do(ctx, engine.Order{Op: engine.OpRemove, Name: name})
	return err
}

var idPattern = lazy.Pattern(`^[a-z0-9][a-z0-9-]{0,63}$`)

// sweep removes this project's containers and saved images whose environment is gone, and kept images whose
// work folder is no longer kept. A killed Signalbox leaves them, or a daemon that completed its last order. A
// container is made after its environment's private folder and removed before it, so a container without one
// has no owner.
func (d *Driver) sweep(ctx context.Context) error {
	found, err := d.engine.Do(ctx, engine.Order{Op: engine.OpContainers, Labels: map[string]string{labelProject: d.config.Clone.Root}})
	if err != nil {
		return err
	}
	for _, c := range found.Containers {
		if d.gone(c.Labels[labelEnv]) {
			d.config.Logger.Info("remove container of an environment that is gone", "environment", c.Labels[labelEnv])
			err = errors.Join(err, d.removeContainer(ctx, c.ID))
		}
	}
	bases, errBases := d.clone.List(ctx)
	named, errNamed := d.engine.Do(ctx, engine.Order{Op: engine.OpImages, Name: d.repository})
	if errBases != nil || errNamed != nil {
		return errors.Join(err, errBases, errNamed)
	}
	wanted := map[string]bool{}
	for _, base := range bases {
		wanted[d.kept(base.Key)] = true
	}
	for _, i := range named.Images {
		for _, name := range i.Names {
			id, saved := strings.CutPrefix(name, d.savedAs(""))
			if saved && d.gone(id) || strings.HasPrefix(name, d.repository+":kept-") && !wanted[name] {
				err = errors.Join(err, d.dropImage(ctx, name))
			}
		}
	}
	ours, errOurs := d.engine.Do(ctx, engine.Order{Op: engine.OpImages, Labels: map[string]string{labelProject: d.config.Clone.Root}})
	err = errors.Join(err, errOurs)
	for _, i := range ours.Images { // images that lost their name to a later one
		if len(i.Names) == 0 || i.Names[0] == "<none>:<none>" {
			err = errors.Join(err, d.dropImage(ctx, i.ID))
		}
	}
	return err
}

// gone reports whether id is the id of an environment that no longer exists.
func (d *Driver) gone(id string) bool {
	if !idPattern().MatchString(id) {
		return false
	}
	_, err := os.Lstat(filepath.Join(d.config.Clone.State, id))
	return errors.Is(err, os.ErrNotExist)
}
