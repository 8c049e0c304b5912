package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Everything that is brought in is put below it, out of the way of the user's branches and tags.
const importPrefix = "refs/signalbox/"

var importSettings = []string{
	// fetch.fsckObjects comes before transfer.fsckObjects, so a repository that sets it would win.
	"transfer.fsckObjects=true", "fetch.fsckObjects=true",
	"protocol.allow=never", "protocol.file.allow=always",
	// A commit that no ref names can be asked for with version 2 only.
	"protocol.version=2",
	"fetch.writeCommitGraph=false",
}

// FetchObjects brings one commit with its history from another git folder of
// this machine into the repository and points ref (below refs/signalbox/) to
// it, wherever ref was before. Every object that is new here is checked; no
// other protocol, tag, submodule or hook takes part. Doing it again is no error.
func (r *Repo) FetchObjects(ctx context.Context, fromGitDir, id, ref string) error {
	if err := checkImport(fromGitDir, id, ref); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-prune", "--refmap=", "--", fromGitDir, "+" + id + ":" + ref,
	}
	if _, err := r.run(ctx, call{args: args, config: importSettings, limit: slow}); err != nil {
		return fmt.Errorf("import %s from %s: %w", id, fromGitDir, err)
	}
	found, err := r.Resolve(ctx, ref)
	if err == nil && found != id {
		err = fmt.Errorf("%w: it is at %s", ErrRefMoved, found)
	}
	if err != nil {
		return fmt.Errorf("import %s as %s: %w", id, ref, err)
	}
	return nil
}

func checkImport(fromGitDir, id, ref string) error {
	if !filepath.IsAbs(fromGitDir) {
		return fmt.Errorf("%w path %q: it must be absolute", ErrInvalid, fromGitDir)
	}
	if !strings.HasPrefix(ref, importPrefix) {
		return fmt.Errorf("%w ref %q: it must be below %s", ErrInvalid, ref, importPrefix)
	}
	return errors.Join(checkRef(ref), checkIDs(id))
}
