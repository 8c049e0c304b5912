package clone

import (
	"context"
	"errors"
	"fmt"
	"os"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/overlay"
	"signalbox/internal/process"
)

// Restore implements environment.Environment. Everything of the environment is thrown away; where
// a base is kept under the key it stands on that, else it is a new clone.
func (e *Environment) Restore(ctx context.Context, commit, key string) (warm bool, err error) {
	defer func() {
		if err != nil {
			warm, err = false, fmt.Errorf("renew environment %s at %s: %w", e.spec.ID, commit, err)
		}
	}()
	m, err := e.marker()
	if err != nil {
		return false, err
	}
	if _, err := e.driver.config.Repo.TreeOf(ctx, commit); err != nil {
		return false, err
	}
	if carried, err := e.carryOver(ctx, m, commit, key); err != nil || carried {
		return carried, err
	}
	asBuilt := m.Warm == nil && e.isSettled(m, commit)
	m.Head, m.Warm, m.Keeping, m.Adopted = commit, nil, "", nil
	if !asBuilt {
		m.Submodules = nil
	}
	if err := e.layout.save(m); err != nil {
		return false, err
	}
	if !asBuilt {
		err = e.clear(ctx)
	} else {
		err = e.emptyHome()
	}
	if err == nil && key != "" {
		err = e.choose(ctx, m, func(b *cache.Entry) bool { return b.Key == key }, false)
	}
	if err == nil && asBuilt && m.Warm != nil {
		err = e.takeOver(ctx, m)
	}
	if err == nil {
		err = e.settle(ctx, m)
	}
	if err == nil {
		err = e.noteUntouched()
	}
	return m.Warm != nil, err
}

// takeOver puts a clone that is as it was built on the base that was chosen.
func (e *Environment) takeOver(ctx context.Context, m *made) error {
	if m.Warm.isLayered() { // settle finds it where the layers belong
		return nil
	}
	if err := e.layout.touch(); err != nil {
		return err
	}
	if err := e.addKept(ctx, m, e.layout.work); err != nil {
		return err
	}
	return e.layout.save(m)
}

// clear deletes what the environment holds, and ends what still runs there.
func (e *Environment) clear(ctx context.Context) error {
	if _, err := process.Sweep(ctx, e.layout.tag()); err != nil {
		return fmt.Errorf("end its processes: %w", err)
	}
	if err := e.driver.retire(ctx, e.layout); err != nil {
		return err
	}
	if err := e.layout.dropIndexes(""); err != nil {
		return err
	}
	return e.emptyHome()
}

func (e *Environment) emptyHome() error {
	err := overlay.Unmount(e.layout.home())
	if err == nil {
		err = errors.Join(folder.Remove(e.layout.homeLayer().Path), folder.Remove(e.layout.home()), folder.Remove(e.layout.agents()))
	}
	if err == nil {
		err = os.Mkdir(e.layout.home(), 0o700)
	}
	if err != nil {
		return fmt.Errorf("empty HOME: %w", err)
	}
	return nil
}

// Evict implements environment.Environment. Environments that stand on the base keep it.
func (e *Environment) Evict(ctx context.Context, key string) error {
	d := e.driver
	if !folder.Is(d.bases.Dir) {
		return nil
	}
	unlock, err := d.bases.Lock(ctx)
	if err == nil {
		err = d.bases.Evict(key)
		unlock()
	}
	if err == nil {
		err = d.prune(ctx)
	}
	if err != nil {
		return fmt.Errorf("forget environments kept as %s: %w", key, err)
	}
	return nil
}
