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

// reading is a call that reads objects, also in further folders. Of a repository to which these belong nothing else takes
// part, above all not its configuration, and what is missing is not fetched.
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

// Listed is a path as an entry of GIT_ALTERNATE_OBJECT_DIRECTORIES: in quotes as C has them, where it holds what
// separates two or begins a quoted one.
func Listed(path string) string {
	if !strings.ContainsAny(path, ":\n\"") {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// SubmoduleObjects is the folder of this checkout where git keeps the objects of a submodule that it initialized; none if it
// is not there. The last of chain is that submodule, those before it the ones that it lies in. Nothing below the work tree
// counts, where git kept them until 1.7.8: a path there may lead into an agent's clone, which names what it borrows.
func (r *Repo) SubmoduleObjects(chain ...Submodule) (found []string) {
	kept := ""
	for _, s := range chain {
		kept = filepath.Join(kept, "modules", filepath.FromSlash(s.Name))
	}
	kept = filepath.Join(kept, "objects")
	root, err := os.OpenRoot(r.git.GitDir) // a link that leads out of it, which a commit may bring, leads to nothing
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Stat(kept); err == nil && info.IsDir() {
		found = append(found, filepath.Join(r.git.GitDir, kept))
	}
	return found
}

// maxCommit is far beyond what a message needs.
const maxCommit = 16 << 20

// TreeIn returns the tree of a commit that lies in a folder of objects, by the commit's content held against its id.
// ErrNotFound if it is not there.
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
		return "", fmt.Errorf("find tree of %s: %w: what lies there is another object", commit, ErrInvalid)
	}
	return tree, nil
}

// objectName is the id of an object with this content; size is that of an id in digits.
func objectName(kind string, content []byte, size int) string {
	sum := sha1.New() //nolint:gosec // see above
	if size == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	_, _ = sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

// CopyTree brings a tree and all that lies in it, without any history, from a folder of objects into another git folder of
// ours. Every object is checked before it can be seen there. Doing it again is no error.
func (r *Repo) CopyTree(ctx context.Context, objects, tree, into string) error {
	if err := checkIDs(tree); err != nil {
		return fmt.Errorf("copy tree: %w", err)
	}
	if err := r.copyTree(ctx, objects, tree, into); err != nil {
		return fmt.Errorf("copy tree %s from %s: %w", tree, objects, err)
	}
	return nil
}

func (r *Repo) copyTree(ctx context.Context, objects, tree, into string) error {
	pack, err := os.CreateTemp(into, "tmp_pack_")
	if err != nil {
		return fmt.Errorf("write a pack: %w", err)
	}
	defer func() { _ = pack.Close() }()
	if err := os.Remove(pack.Name()); err != nil { // so that it goes with us, should we be killed here
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
