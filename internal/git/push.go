package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"signalbox/internal/git/gitcmd"
)

// Remote is another repository that this one knows by a name.
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

// RemoteRef asks the remote for the object that ref is at. ErrNotFound if it has no such ref.
func (r *Repo) RemoteRef(ctx context.Context, remote, ref string) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", fmt.Errorf("ask remote: %w", err)
	}
	if err := checkRemote(remote); err != nil {
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

// Push is one ref to bring to a remote.
type Push struct {
	// Ref is the full name, on the remote; ID the commit to put there.
	Ref string
	ID  string
	// Old is where the remote's ref must be; zeros, or empty, if it must not exist.
	Old string
}

// Push moves a ref of the remote. ErrRefMoved if the remote's ref is neither at
// p.Old nor at p.ID already; ErrRejected if the remote does not want it.
func (r *Repo) Push(ctx context.Context, remote string, p Push) error {
	if err := checkPush(remote, p); err != nil {
		return fmt.Errorf("push: %w", err)
	}
	old := p.Old
	if isZero(old) {
		old = ""
	}
	args := []string{
		"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease=" + p.Ref + ":" + old, "--", remote, p.ID + ":" + p.Ref,
	}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, User: true, Limit: gitcmd.Slow})
	if err != nil {
		return fmt.Errorf("push %s to %s: %w", p.Ref, remote, refusal(string(out), err))
	}
	return nil
}

// MayPush asks the remote whether it would let ref go to id, and moves nothing. ErrRefMoved if ref has commits there that id lacks;
// ErrRejected if the remote does not want it. What the remote's own hooks say is not known before a push.
func (r *Repo) MayPush(ctx context.Context, remote, ref, id string) error {
	if err := checkPush(remote, Push{Ref: ref, ID: id}); err != nil {
		return fmt.Errorf("try to push: %w", err)
	}
	args := []string{"push", "--dry-run", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--", remote, id + ":" + ref}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, User: true, Limit: brief})
	if err != nil {
		return fmt.Errorf("try to push %s to %s: %w", ref, remote, refusal(string(out), err))
	}
	return nil
}

// brief is how long a remote may take to say that it would take a push.
const brief = time.Minute

// DeleteRemoteRef deletes a ref of the remote if it is at old. ErrRefMoved if it is elsewhere, or gone.
func (r *Repo) DeleteRemoteRef(ctx context.Context, remote, ref, old string) error {
	if err := checkPush(remote, Push{Ref: ref, ID: old}); err != nil {
		return fmt.Errorf("delete remote branch: %w", err)
	}
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease=" + ref + ":" + old, "--", remote, ":" + ref}
	out, err := r.git.Run(ctx, gitcmd.Call{Args: args, Dir: r.git.Root, User: true, Limit: gitcmd.Slow})
	if err != nil {
		return fmt.Errorf("delete %s of %s: %w", ref, remote, refusal(string(out), err))
	}
	return nil
}

func checkPush(remote string, p Push) error {
	if err := checkRemote(remote); err != nil {
		return err
	}
	if err := checkRef(p.Ref); err != nil {
		return err
	}
	if !isZero(p.Old) {
		return checkIDs(p.ID, p.Old)
	}
	return checkIDs(p.ID)
}

// refusal reads the line "! <from>:<to> TAB [rejected] (stale info)" of the porcelain output.
func refusal(out string, err error) error {
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		reason := gitcmd.Clean(fields[2])
		// The last three are a push by somebody else that came between the remote's answer and ours.
		for _, moved := range []string{"stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref", "incorrect old value"} {
			if strings.Contains(reason, moved) {
				return fmt.Errorf("%w: %s", ErrRefMoved, reason)
			}
		}
		return fmt.Errorf("%w: %s", ErrRejected, reason)
	}
	return err
}
