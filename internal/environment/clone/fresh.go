package clone

import (
	"context"
	"fmt"
	"path/filepath"

	"signalbox/internal/environment/cache"
	"signalbox/internal/environment/clone/folder"
	"signalbox/internal/environment/clone/plumbing"
	"signalbox/internal/process"
)

// checkOut makes the fresh clone at m.Head. A base from which that is not possible is left aside.
func (e *Environment) checkOut(ctx context.Context, m *made) error {
	base, err := e.ancestor(ctx, m)
	if err != nil {
		return err
	}
	err = e.checkOutFrom(ctx, base, m.Head)
	if err == nil || base == nil || ctx.Err() != nil {
		return err
	}
	if err := folder.Remove(e.layout.fresh()); err != nil {
		return err
	}
	return e.checkOutFrom(ctx, nil, m.Head)
}

func (e *Environment) checkOutFrom(ctx context.Context, base *cache.Entry, commit string) error {
	if err := e.initialize(ctx, base, commit); err != nil {
		return err
	}
	if _, err := e.inFresh(ctx, "reset", "--hard", "--quiet", commit); err != nil {
		return fmt.Errorf("check out %s: %w", commit, err)
	}
	return nil
}

// initialize makes the fresh clone's .git: the history of commit as real objects of its own,
// beginning with a base's if one is named, the branch, no remote, no hook and no tag. Nothing
// is checked out yet.
func (e *Environment) initialize(ctx context.Context, base *cache.Entry, commit string) error {
	who, err := e.driver.user(ctx)
	if err != nil {
		return err
	}
	if err := plumbing.MakeRepository(filepath.Join(e.layout.fresh(), ".git"), e.spec.Branch, commit, false, who.Author); err != nil {
		return err
	}
	known := ""
	if base != nil {
		inherited, err := e.inherit(ctx, base)
		if err != nil {
			return err
		}
		if inherited {
			known = base.Commit
		}
	}
	if err := e.copyHistory(ctx, commit, known); err != nil {
		return err
	}
	return e.copyExcludes()
}

func (e *Environment) inFresh(ctx context.Context, args ...string) (string, error) {
	fresh := e.layout.fresh()
	return e.driver.git.Run(ctx, process.Command{Fresh: true, Args: args, Dir: fresh, Env: []string{
		"GIT_DIR=" + filepath.Join(fresh, ".git"), "GIT_WORK_TREE=" + fresh, e.layout.tag(),
	}})
}
