package clone

import (
	"context"
	"fmt"
	"path/filepath"

	"signalbox/internal/environment/cache"
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
	if err := removeTree(e.layout.fresh()); err != nil {
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

// uploadPack is the program that a fetch starts at the project's side. It looks for no
// differences between objects that are not stored as such: on one disk that takes far longer
// than it saves.
const uploadPack = "git -c pack.window=0 upload-pack"

// initialize makes the fresh clone's .git: the history of commit as real objects of its own,
// beginning with a base's if one is named, the branch, no remote, no hook and no tag. Nothing
// is checked out yet.
func (e *Environment) initialize(ctx context.Context, base *cache.Entry, commit string) error {
	fresh := e.layout.fresh()
	if _, err := e.driver.git(ctx, process.Command{Fresh: true, Args: initArgs(commit, "--initial-branch="+e.spec.Branch, fresh)}); err != nil {
		return fmt.Errorf("initialize %s: %w", fresh, err)
	}
	if base != nil {
		if err := e.inherit(ctx, base); err != nil {
			return err
		}
	}
	identity := e.driver.config.Identity
	for _, args := range [][]string{
		{"config", "user.name", identity.Name},
		{"config", "user.email", identity.Email},
		// The project may be shallow itself; a commit that is no branch's tip is asked for by id.
		{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--update-shallow", "--no-auto-gc",
			"--upload-pack=" + uploadPack, e.driver.config.Repo.GitDir(), commit},
		{"update-ref", "refs/heads/" + e.spec.Branch, commit},
	} {
		if _, err := e.inFresh(ctx, args...); err != nil {
			return fmt.Errorf("%s in the new clone: %w", args[0], err)
		}
	}
	return e.copyExcludes()
}

func initArgs(commit string, further ...string) []string {
	format := "--object-format=sha1"
	if len(commit) == 64 {
		format = "--object-format=sha256"
	}
	return append([]string{"init", "--quiet", "--template=", format}, further...)
}

func (e *Environment) inFresh(ctx context.Context, args ...string) (string, error) {
	fresh := e.layout.fresh()
	return e.driver.git(ctx, process.Command{Fresh: true, Args: args, Dir: fresh, Env: []string{
		"GIT_DIR=" + filepath.Join(fresh, ".git"), "GIT_WORK_TREE=" + fresh, e.layout.tag(),
	}})
}
