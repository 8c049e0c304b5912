package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
)

// Remote is another repository, under the name that this one has for it.
type Remote struct {
	Name string
	URL  string
	// Local: URL is a path on this machine.
	Local bool
}

// Remotes lists the configured remotes.
func (r *Repo) Remotes(ctx context.Context) ([]Remote, error) {
	settings, err := r.configured(ctx)
	if err != nil {
		return nil, fmt.Errorf("list remotes: %w", err)
	}
	var remotes []Remote
	for _, s := range settings {
		if !strings.HasPrefix(s.key, "remote.") || !strings.HasSuffix(s.key, ".url") {
			continue
		}
		name, url := strings.TrimSuffix(strings.TrimPrefix(s.key, "remote."), ".url"), s.value
		if len(remotes) > 0 && remotes[len(remotes)-1].Name == name {
			continue
		}
		// To git, a colon before the first slash means host:path.
		first, _, _ := strings.Cut(url, "/")
		local := strings.HasPrefix(url, "file://") || filepath.IsAbs(url) || !strings.Contains(first, ":")
		remotes = append(remotes, Remote{Name: name, URL: url, Local: local})
	}
	return remotes, nil
}

// Remote finds a remote by its name. ErrNotFound if there is none.
func (r *Repo) Remote(ctx context.Context, name string) (Remote, error) {
	remotes, err := r.Remotes(ctx)
	if err != nil {
		return Remote{}, err
	}
	for _, remote := range remotes {
		if remote.Name == name {
			return remote, nil
		}
	}
	return Remote{}, fmt.Errorf("remote %q: %w", name, ErrNotFound)
}

// RemoteRef asks a remote, by its name or address, which object ref is at. ErrNotFound if it has no such ref.
func (r *Repo) RemoteRef(ctx context.Context, remote, ref string) (string, error) {
	if err := errors.Join(checkRef(ref), checkDestination(remote)); err != nil {
		return "", fmt.Errorf("ask remote: %w", err)
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"ls-remote", "--quiet", "--", remote, ref}, Dir: r.git.Root, User: true, Limit: gitcmd.Slow})
	if err != nil {
		return "", fmt.Errorf("ask remote %s for %s: %w", remote, ref, err)
	}
	// The argument is a pattern that matches the ends of names too.
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name == ref && ValidID(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("ask remote %s for %s: %w", remote, ref, ErrNotFound)
}

// Push is one ref to move on a remote.
type Push struct {
	// Ref is the full name on the remote, ID the commit to move it to.
	Ref string
	ID  string
	// Old is where the remote's ref must be; zeros, or empty, if it must not exist.
	Old string
}

// Push moves a ref of the remote. ErrRefMoved if the remote's ref is neither at p.Old nor already at
// p.ID; ErrRejected if the remote doesn't want it.
func (r *Repo) Push(ctx context.Context, remote string, p Push) error {
	old := p.Old
	if isZero(old) {
		old = ""
	}
	if err := r.push(ctx, gitcmd.Slow, remote, p, "--force-with-lease="+p.Ref+":"+old, "--", remote, p.ID+":"+p.Ref); err != nil {
		return fmt.Errorf("push %s to %s: %w", p.Ref, remote, err)
	}
	return nil
}

// MayPush asks the remote whether it would let ref go to id, and moves nothing. ErrRefMoved if ref has
// commits there that id lacks; ErrRejected if the remote doesn't want it. Hooks of the remote decide
// only at the push itself.
func (r *Repo) MayPush(ctx context.Context, remote, ref, id string) error {
	if err := r.push(ctx, brief, remote, Push{Ref: ref, ID: id}, "--dry-run", "--", remote, id+":"+ref); err != nil {
		return fmt.Errorf("try to push %s to %s: %w", ref, remote, err)
	}
	return nil
}

// brief is how long a remote may take to answer whether it would take a push.
const brief = time.Minute

// DeleteRemoteRef deletes a ref of the remote if it is at old. ErrRefMoved if it is elsewhere or missing.
func (r *Repo) DeleteRemoteRef(ctx context.Context, remote, ref, old string) error {
	if err := r.push(ctx, gitcmd.Slow, remote, Push{Ref: ref, ID: old}, "--force-with-lease="+ref+":"+old, "--", remote, ":"+ref); err != nil {
		return fmt.Errorf("delete %s of %s: %w", ref, remote, err)
	}
	return nil
}

// push checks the names and ids of p, runs git push with further arguments, and finds out why the
// remote refused: the porcelain output has the line "! <from>:<to> TAB [rejected] (stale info)".
func (r *Repo) push(ctx context.Context, limit time.Duration, remote string, p Push, args ...string) error {
	err := errors.Join(checkDestination(remote), checkRef(p.Ref), checkIDs(p.ID))
	if err == nil && !isZero(p.Old) {
		err = checkIDs(p.Old)
	}
	if err != nil {
		return err
	}
	args = append([]string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"}, args...)
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, User: true, Limit: limit})
	if err == nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		reason := gitcmd.Clean(fields[2])
		// The last three mean that another push came between the remote's answer and ours.
		for _, moved := range []string{"stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref", "incorrect old value"} {
			if strings.Contains(reason, moved) {
				return fmt.Errorf("%w: %s", ErrRefMoved, reason)
			}
		}
		return fmt.Errorf("%w: %s", ErrRejected, reason)
	}
	return err
}
