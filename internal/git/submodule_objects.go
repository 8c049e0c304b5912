package git

import (
	"context"
	"crypto/sha1" //nolint:gosec // it is git's name of an object
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// reading returns a call that reads objects, also in further folders. Nothing else of the repository
// that these belong to takes part, above all not its configuration, and git fetches nothing.
func reading(objects []string, args ...string) gitcmd.Call {
	c := gitcmd.Call{Args: args, Limit: gitcmd.Slow}
	if len(objects) == 0 {
		return c
	}
	var listed []string
	for _, dir := range objects {
		listed = append(listed, Listed(dir))
	}
	c.Env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(listed, ":"), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1"}
	return c
}

// Listed returns a path as an entry of GIT_ALTERNATE_OBJECT_DIRECTORIES: in C's quotes if it holds a
// separator or a quote.
func Listed(path string) string {
	if !strings.ContainsAny(path, ":\n\"") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// SubmoduleObjects returns the folder of this checkout where git keeps the objects of an initialized
// submodule, or nothing if there is none. The last of chain is that submodule; those before it contain
// it. It ignores folders below the work tree, where git kept objects until 1.7.8: a path there may lead
// into an agent's clone, which chooses the objects that it borrows.
func (r *Repo) SubmoduleObjects(chain ...Submodule) (found []string) {
	kept := ""
	for _, s := range chain {
		kept = filepath.Join(kept, "modules", filepath.FromSlash(s.Name))
	}
	kept = filepath.Join(kept, "objects")
	root, err := os.OpenRoot(r.git.GitDir) // refuses a link that leads out, which a commit may bring
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Stat(kept); err == nil && info.IsDir() {
		found = append(found, filepath.Join(r.git.GitDir, kept))
	}
	return found
}

// maxCommit, in bytes, is far more than any message needs.
const maxCommit = 16 << 20

// TreeIn returns the tree of a commit in a folder of objects, after checking the commit's content
// against its id. ErrNotFound if it isn't there.
func (r *Repo) TreeIn(ctx context.Context, objects, commit string) (string, error) {
	if err := checkIDs(commit); err != nil {
		return "", fmt.Errorf("find tree: %w", err)
	}
	data := head{limit: maxCommit}
	c := reading([]string{objects}, "cat-file", "commit", commit)
	c.Stdout = &data
	if _, err := r.git.Run(ctx, c); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("find tree of %s: %w: %w", commit, ErrNotFound, err)
	}
	line, _, _ := strings.Cut(string(data.kept), "\n")
	tree, ok := strings.CutPrefix(line, "tree ")
	if !ok || checkIDs(tree) != nil || objectName("commit", data.kept, len(commit)) != commit {
		return "", fmt.Errorf("find tree of %s: %w: the content belongs to another object", commit, ErrInvalid)
	}
	return tree, nil
}

// objectName returns the id of an object with this content; size is the length of an id in digits.
func objectName(kind string, content []byte, size int) string {
	sum := sha1.New() //nolint:gosec // see above
	if size == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	_, _ = sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

// CopyTree copies a tree and everything in it, without any history, from a folder of objects into
// another git folder of ours. It checks every object before the object can be seen there. A repeated
// call is no error.
func (r *Repo) CopyTree(ctx context.Context, objects, tree, into string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy tree %s from %s: %w", tree, objects, err)
		}
	}()
	if err := checkIDs(tree); err != nil {
		return err
	}
	pack, err := os.CreateTemp(into, "tmp_pack_")
	if err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	defer func() { _ = pack.Close() }()
	if err := os.Remove(pack.Name()); err != nil { // a kill from here on leaves nothing
		return fmt.Errorf("write a pack: %w", err)
	}
	c := reading([]string{objects}, "pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset")
	c.Input, c.Stdout = tree+"\n", pack
	if _, err := r.git.Run(ctx, c); err != nil {
		return err
	}
	if _, err := pack.Seek(0, 0); err != nil {
		return fmt.Errorf("read a pack: %w", err)
	}
	_, err = r.git.Run(ctx, gitcmd.Call{Args: []string{"index-pack", "--stdin", "--strict"}, From: into, Stdin: pack, Limit: gitcmd.Slow})
	return err
}
