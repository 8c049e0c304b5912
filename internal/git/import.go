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

// FetchObjects brings one commit with its history from another git folder of
// this machine into the repository and points ref (below refs/signalbox/) to
// it, wherever ref was before. Every object that is new here is checked; no
// other protocol, tag, submodule or hook takes part. Doing it again is no error.
func (r *Repo) FetchObjects(ctx context.Context, fromGitDir, id, ref string) error {
	if err := checkImport(fromGitDir, id, ref); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if _, err := r.run(ctx, call{args: importArguments(fromGitDir, id, ref), limit: slow}); err != nil {
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

func importArguments(fromGitDir, id, ref string) []string {
	return []string{
		// fetch.fsckObjects comes before transfer.fsckObjects, so a repository that sets it would win.
		"-c", "transfer.fsckObjects=true", "-c", "fetch.fsckObjects=true",
		"-c", "protocol.allow=never", "-c", "protocol.file.allow=always",
		// A commit that no ref names can be asked for with version 2 only.
		"-c", "protocol.version=2",
		"-c", "fetch.writeCommitGraph=false",
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-prune", "--refmap=", "--", fromGitDir, "+" + id + ":" + ref,
	}
}
