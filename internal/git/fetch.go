package git

import (
	"context"
	"errors"
	"fmt"

	"signalbox/internal/git/gitcmd"
)

// Fetch brings the commit that ref is at on the remote, with its history, and returns its id. It moves no
// branch here; git itself may move the branch's remote-tracking ref. ErrNotFound if the remote has no such
// ref.
func (r *Repo) Fetch(ctx context.Context, remote, ref string) (string, error) {
	id, err := r.RemoteRef(ctx, remote, ref)
	if err != nil {
		return "", err
	}
	if _, err := r.Resolve(ctx, id); !errors.Is(err, ErrNotFound) {
		return id, err
	}
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--recurse-submodules=no", "--", remote, ref}, Dir: r.git.Root, User: true, Limit: gitcmd.Slow}); err != nil {
		return "", fmt.Errorf("fetch %s from %s: %w", ref, remote, err)
	}
	if _, err := r.Resolve(ctx, id); err != nil {
		return "", fmt.Errorf("fetch %s from %s: it moved meanwhile: %w", ref, remote, ErrRefMoved)
	}
	return id, nil
}
