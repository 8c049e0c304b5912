package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// importPrefix is where imported refs go, out of the way of the user's branches and tags.
const importPrefix = "refs/signalbox/"

// FetchObjects imports one commit with its history from another git folder of this machine and points
// ref (below refs/signalbox/) to it, wherever ref was before. Every new object is checked before any can
// be seen; no configuration, tag, submodule or hook of the other folder takes part. Both have the
// commits of known already, so their history is left out. A repeated call is no error.
func (r *Repo) FetchObjects(ctx context.Context, fromGitDir, id, ref string, known ...string) error {
	if !filepath.IsAbs(fromGitDir) {
		return fmt.Errorf("import: %w path %q: it must be absolute", ErrInvalid, fromGitDir)
	}
	if !strings.HasPrefix(ref, importPrefix) {
		return fmt.Errorf("import: %w ref %q: it must be below %s", ErrInvalid, ref, importPrefix)
	}
	if err := errors.Join(checkRef(ref), checkIDs(id), checkIDs(known...)); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if at, err := r.Resolve(ctx, ref); err == nil && at == id {
		return nil
	}
	if err := r.bring(ctx, fromGitDir, id, known); err != nil {
		return fmt.Errorf("import %s from %s: %w", id, fromGitDir, err)
	}
	found, err := r.Resolve(ctx, id)
	if err == nil {
		_, err = r.git.Run(ctx, gitcmd.Call{Args: []string{"update-ref", "-m", "signalbox", "--no-deref", "--", ref, found}})
	}
	if err != nil {
		return fmt.Errorf("import %s as %s: %w", id, ref, err)
	}
	return nil
}

// bring copies the objects and makes sure that none is missing. It does what "git fetch" does, without
// its two shells and its negotiation.
func (r *Repo) bring(ctx context.Context, fromGitDir, id string, known []string) (err error) {
	// If we are killed here, git removes a file with such a name when it cleans up.
	pack, err := os.CreateTemp(filepath.Join(r.objectsDir, "pack"), "tmp_signalbox_")
	if err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	defer func() { err = errors.Join(err, pack.Close(), os.Remove(pack.Name())) }()
	wanted := id + "\n"
	for _, commit := range known {
		wanted += "^" + commit + "\n"
	}
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset"},
		From: fromGitDir, Input: wanted, Stdout: pack, Limit: gitcmd.Slow}); err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read a pack: %w", err)
	}
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"index-pack", "--stdin", "--fix-thin", "--strict"}, Stdin: pack, Limit: gitcmd.Slow}); err != nil {
		return err
	}
	args := []string{"rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"}
	if remote, err := r.Promisor(ctx); err != nil {
		return err
	} else if remote != "" {
		args = append(args, "--exclude-promisor-objects")
	}
	_, err = r.git.Run(ctx, gitcmd.Call{Args: args, Input: id + "\n", Limit: gitcmd.Slow})
	return err
}
