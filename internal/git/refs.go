package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// Ref is a name and the object it points to.
type Ref struct {
	Name string
	ID   string
}

// DefaultBranch returns the branch that is checked out at Root, else main, else master, without
// refs/heads/. ErrNotFound if none of them has a commit; ErrInvalid if the one that is checked out has an
// unsafe name, because the user doesn't mean another one instead.
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	head, err := r.checkedOut(ctx)
	if err != nil {
		return "", fmt.Errorf("find the default branch: %w", err)
	}
	if head != "" && checkRef(head) != nil {
		return "", fmt.Errorf("find the default branch: %w: the name of the branch %q that is checked out", ErrInvalid, strings.TrimPrefix(head, "refs/heads/"))
	}
	for _, ref := range []string{head, "refs/heads/main", "refs/heads/master"} {
		if ref == "" {
			continue
		}
		_, err := r.Resolve(ctx, ref)
		if err == nil {
			return strings.TrimPrefix(ref, "refs/heads/"), nil
		}
		if !errors.Is(err, ErrNotFound) {
			return "", fmt.Errorf("find the default branch: %w", err)
		}
	}
	return "", fmt.Errorf("find the default branch: %w: nothing is committed on a branch", ErrNotFound)
}

// Detached reports whether a commit instead of a branch is checked out at Root.
func (r *Repo) Detached(ctx context.Context) (bool, error) {
	head, err := r.checkedOut(ctx)
	if err != nil {
		return false, fmt.Errorf("find what is checked out: %w", err)
	}
	return head == "", nil
}

// checkedOut returns the full name of the branch that is checked out at Root; empty for a commit.
func (r *Repo) checkedOut(ctx context.Context) (string, error) {
	if ref, ok := r.readHead(); ok {
		return ref, nil
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"symbolic-ref", "--quiet", "HEAD"}, Dir: r.git.Root})
	if err != nil && !gitcmd.Exited(err, 1) {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// readHead reads Root's HEAD if it is a file as gitrepository-layout describes it; a linked work tree
// has its own. ok is false if git must be asked.
func (r *Repo) readHead() (ref string, ok bool) {
	if _, err := os.Lstat(filepath.Join(r.git.GitDir, "reftable")); err == nil || r.linked() {
		return "", false
	}
	path := filepath.Join(r.git.GitDir, "HEAD")
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := os.ReadFile(path)
	head, whole := strings.CutSuffix(string(data), "\n")
	if err != nil || !whole {
		return "", false
	}
	if ref, symbolic := strings.CutPrefix(head, "ref: "); symbolic {
		return ref, strings.HasPrefix(ref, "refs/heads/") && checkRef(ref) == nil
	}
	return "", ValidID(head)
}

// Resolve returns the full id of the commit that ref leads to: a full ref name, a full id, or HEAD (of
// Root). ErrNotFound if there is none.
func (r *Repo) Resolve(ctx context.Context, ref string) (string, error) {
	c := gitcmd.Call{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}}
	if ref == "HEAD" {
		c.Dir = r.git.Root
	} else if !ValidID(ref) {
		if err := checkRef(ref); err != nil {
			return "", fmt.Errorf("resolve: %w", err)
		}
	}
	if c.Dir == "" {
		o, err := r.info(ctx, ref+"^{commit}")
		switch {
		case err == nil && o.Type == "commit":
			return o.ID, nil
		case err == nil && o.Type == "":
			return "", fmt.Errorf("resolve %s: %w", ref, ErrNotFound)
		}
	}
	return r.one(ctx, c, "resolve "+ref)
}

// one runs a look-up that prints one object id, or fails quietly if there is none.
func (r *Repo) one(ctx context.Context, c gitcmd.Call, doing string) (string, error) {
	out, err := r.git.Run(ctx, c)
	id := strings.TrimSpace(string(out))
	switch {
	case gitcmd.Exited(err, 1):
		return "", fmt.Errorf("%s: %w", doing, ErrNotFound)
	case err != nil:
		return "", fmt.Errorf("%s: %w", doing, err)
	case !ValidID(id):
		return "", fmt.Errorf("%s: git printed %q, which is no object id", doing, gitcmd.Clean(id))
	}
	return id, nil
}

// Refs lists the refs below prefix ("refs/signalbox/runs"), by name.
func (r *Repo) Refs(ctx context.Context, prefix string) ([]Ref, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	if prefix != "refs" {
		if err := checkRef(prefix); err != nil {
			return nil, fmt.Errorf("list refs: %w", err)
		}
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "--", prefix}})
	if err != nil {
		return nil, fmt.Errorf("list refs below %s: %w", prefix, err)
	}
	var refs []Ref
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs = append(refs, Ref{Name: name, ID: id})
	}
	return refs, nil
}

// CreateBranch makes one of Signalbox's own branches at commit. A repeated call is no error; ErrRefMoved
// if the branch exists at another commit.
func (r *Repo) CreateBranch(ctx context.Context, name, commit string) error {
	if !ValidBranch(name) {
		return fmt.Errorf("create branch: %w name %q", ErrInvalid, name)
	}
	ref := "refs/heads/" + name
	err := r.UpdateRef(ctx, ref, commit, "")
	if !errors.Is(err, ErrRefMoved) {
		return err
	}
	if id, again := r.Resolve(ctx, ref); again == nil && id == commit {
		return nil
	}
	return err
}

// UpdateRef moves ref to the object id, if it is at old at that moment; an old of zeros, or empty, means
// that the ref must not exist. ErrRefMoved if it is elsewhere, even at id: of two that try, one wins.
func (r *Repo) UpdateRef(ctx context.Context, ref, id, old string) error {
	if err := errors.Join(checkRef(ref), checkIDs(id)); err != nil {
		return fmt.Errorf("update ref: %w", err)
	}
	return r.changeRef(ctx, ref, old, id)
}

// DeleteRef deletes ref if it is at old. ErrRefMoved if it is elsewhere or missing.
func (r *Repo) DeleteRef(ctx context.Context, ref, old string) error {
	if err := errors.Join(checkRef(ref), checkIDs(old)); err != nil {
		return fmt.Errorf("delete ref: %w", err)
	}
	return r.changeRef(ctx, ref, old, "")
}

// DropRef deletes ref wherever it is; a missing ref is no error. It also removes the lock that a git
// killed during the deletion left.
func (r *Repo) DropRef(ctx context.Context, ref string) error {
	if err := checkRef(ref); err != nil {
		return fmt.Errorf("drop ref: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(r.git.GitDir, ref+".lock")); errors.Is(err, os.ErrNotExist) {
		if o, err := r.info(ctx, ref); err == nil && o.Type == "" {
			return nil
		}
	}
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"update-ref", "-m", "signalbox", "--no-deref", "-d", "--", ref}}); err != nil {
		return fmt.Errorf("drop ref %s: %w", ref, err)
	}
	return nil
}

// changeRef moves ref from old to id; an empty id deletes it. After a failure it looks where the ref is,
// to tell a lost race from other errors.
func (r *Repo) changeRef(ctx context.Context, ref, old, id string) error {
	if isZero(old) {
		old = ""
	} else if err := checkIDs(old); err != nil {
		return fmt.Errorf("update ref %s: %w", ref, err)
	}
	args := []string{"update-ref", "-m", "signalbox", "--", ref, id, old}
	if id == "" {
		args = []string{"update-ref", "-m", "signalbox", "--no-deref", "-d", "--", ref, old}
	}
	_, err := r.git.Run(ctx, gitcmd.Call{Args: args})
	if err == nil {
		return nil
	}
	// The object that ref points to, whatever its type; empty if there is none.
	c := gitcmd.Call{Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref}}
	present, findErr := r.one(ctx, c, "resolve "+ref)
	if (findErr == nil || errors.Is(findErr, ErrNotFound)) && present != old {
		return fmt.Errorf("update ref %s: %w", ref, ErrRefMoved)
	}
	return fmt.Errorf("update ref %s: %w", ref, err)
}

// ReleaseMoved removes the locks that a git killed right after moving ref left: if ref is checked out,
// git also holds HEAD's lock, for its reflog, and releases it last. A lock that a live git may hold
// stays.
func (r *Repo) ReleaseMoved(ctx context.Context, ref string) {
	for _, name := range []string{"HEAD", ref} {
		path := filepath.Join(r.git.GitDir, name+".lock")
		if _, err := os.Lstat(path); err == nil {
			r.git.RemoveStaleLock(ctx, path)
		}
	}
}

// Note reads the note on an object below a ref of notes; ErrNotFound if it has none.
func (r *Repo) Note(ctx context.Context, ref, id string) ([]byte, error) {
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"notes", "--ref=" + ref, "show", id}})
	if gitcmd.Exited(err, 1) {
		return nil, fmt.Errorf("note on %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read note on %s: %w", id, err)
	}
	return out, nil
}
