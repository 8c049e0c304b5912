package clone

import (
	"context"
	"fmt"

	"signalbox/internal/environment/cache"
	"signalbox/internal/process"
)

// Restore implements environment.Environment. It throws everything in the environment away. If there is a snapshot with this
// key the environment starts from it, otherwise it is a new clone.
func (e *Environment) Restore(ctx context.Context, commit, key string) (warm bool, err error) {
	defer func() {
		if err != nil {
			warm, err = false, fmt.Errorf("restore environment %s at %s: %w", e.spec.ID, commit, err)
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
		err = e.choose(ctx, m, func(s *cache.Entry) bool { return s.Key == key }, false)
	}
	if err == nil && asBuilt && m.Warm != nil && !m.Warm.isLayered() { // settle replaces the clone by layers, but doesn't copy into it
		if err = e.layout.touch(); err == nil {
			err = e.addKept(ctx, m, e.layout.work)
		}
		if err == nil {
			err = e.layout.save(m)
		}
	}
	if err == nil {
		err = e.settle(ctx, m)
	}
	if err == nil {
		err = e.noteUntouched()
	}
	return m.Warm != nil, err
}

// clear deletes the environment's folders, and ends the processes that still run there.
func (e *Environment) clear(ctx context.Context) error {
	if _, err := process.Sweep(ctx, e.layout.tag); err != nil {
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
