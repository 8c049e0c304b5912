package container

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"signalbox/internal/environment/container/engine"
)

// Dir implements environment.Environment.
func (e *Environment) Dir() string { return workspace }

// Isolation implements environment.Environment.
func (e *Environment) Isolation() string { return "container" }

// Fingerprint implements environment.Environment.
func (e *Environment) Fingerprint() string {
	return hash("container\n" + version + "\n" + e.state.Base + "\n" + e.clone.Fingerprint())
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (d *Driver) kept(key string) string   { return d.repository + ":kept-" + hash(key)[:32] }
func (d *Driver) savedAs(id string) string { return d.repository + ":env-" + id }

// Restore implements environment.Environment. An environment is warm if both its work folder and its
// container's own file system were kept.
func (e *Environment) Restore(ctx context.Context, commit, key string) (warm bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if err != nil {
			warm, err = false, fmt.Errorf("restore container of environment %s: %w", e.id, hint(err))
		}
	}()
	d := e.driver
	kept, err := d.image(ctx, d.kept(key)) // before anything is removed
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return false, err
	}
	if err != nil {
		key = ""
	}
	e.server = nil
	if err := d.removeContainer(ctx, d.containers+e.id); err != nil {
		return false, err
	}
	if warm, err = e.clone.Restore(ctx, commit, key); err != nil {
		return false, err
	}
	if e.state.Image = e.state.Base; warm {
		e.state.Image = kept.ID
	}
	e.state.Shown = nil
	if err := e.save(); err != nil {
		return false, err
	}
	if err := d.dropImage(ctx, d.savedAs(e.id)); err != nil {
		return false, err
	}
	return warm, e.bringUp(ctx)
}

// Snapshot implements environment.Environment. It saves the image first: without the work folder the image is
// never used, and Check removes it.
func (e *Environment) Snapshot(ctx context.Context, key string) (err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep container of environment %s: %w", e.id, hint(err))
		}
	}()
	d := e.driver
	if key != "" {
		changed, err := e.changed(ctx)
		if err != nil {
			return err
		}
		order := engine.Order{Op: engine.OpTag, Name: e.state.Image, To: d.kept(key)}
		if changed {
			order = engine.Order{Op: engine.OpCommit, Name: d.containers + e.id, To: d.kept(key), Labels: d.labels(e.id)}
		}
		if _, err := d.engine.Do(ctx, order); err != nil {
			return err
		}
	}
	// The snapshot may be the very folders that the container shows, so nothing may write them from here on.
	e.server = nil
	if _, err := d.engine.Do(ctx, engine.Order{Op: engine.OpStop, Name: d.containers + e.id}); err != nil {
		return err
	}
	if err := e.clone.Snapshot(ctx, key); err != nil {
		return err
	}
	return e.bringUp(ctx)
}

// changed reports whether the container's own file system differs from its image.
func (e *Environment) changed(ctx context.Context) (bool, error) {
	except := append([]string{}, temporary...)
	for _, m := range e.mounts() {
		except = append(except, m.Target)
	}
	a, err := e.driver.engine.Do(ctx, engine.Order{Op: engine.OpChanged, Name: e.driver.containers + e.id, Except: except})
	return a.Changed, err
}

// saved returns an image of the container as it is now: the one it started from if nothing changed.
func (e *Environment) saved(ctx context.Context) (string, error) {
	changed, err := e.changed(ctx)
	if errors.Is(err, engine.ErrNotFound) || err == nil && !changed {
		return e.state.Image, nil
	}
	if err != nil {
		return "", err
	}
	d := e.driver
	a, err := d.engine.Do(ctx, engine.Order{Op: engine.OpCommit, Name: d.containers + e.id, To: d.savedAs(e.id), Labels: d.labels(e.id)})
	if err != nil {
		return "", fmt.Errorf("save container: %w", err)
	}
	return a.Image.ID, nil
}

// Evict implements environment.Environment.
func (e *Environment) Evict(ctx context.Context, key string) error {
	if err := errors.Join(e.driver.dropImage(ctx, e.driver.kept(key)), e.clone.Evict(ctx, key)); err != nil {
		return fmt.Errorf("evict snapshot of environment %s: %w", e.id, hint(err))
	}
	return nil
}

// dropImage removes an image's name, if it exists.
func (d *Driver) dropImage(ctx context.Context, name string) error {
	_, err := d.engine.Do(ctx, engine.Order{Op: engine.OpRemoveImage, Name: name})
	if errors.Is(err, engine.ErrNotFound) {
		return nil
	}
	return err
}
