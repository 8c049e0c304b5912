package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/git/gitcmd"
)

// ErrIncomplete: the repository is a partial clone, and its missing objects can't be fetched. A retry
// does not help.
var ErrIncomplete = errors.New("objects are missing in this partial clone and its remote did not give them")

// maxRounds limits the requests of Complete: commits, then trees, then files, a level at a time.
const maxRounds = 20

// Complete fetches what a partial clone lacks of commit and its history, with the user's credentials and
// all known missing objects in one request. It does nothing if the clone is whole.
func (r *Repo) Complete(ctx context.Context, commit string) error {
	if err := checkIDs(commit); err != nil {
		return fmt.Errorf("complete history: %w", err)
	}
	remote, err := r.Promisor(ctx)
	if err != nil || remote == "" {
		return err
	}
	for range maxRounds {
		out, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"rev-list", "--objects", "--quiet", "--missing=print", commit, "--"}, Limit: gitcmd.Slow})
		if err != nil {
			return fmt.Errorf("look for missing objects: %w", err)
		}
		var missing strings.Builder
		for line := range strings.Lines(string(out)) {
			if id := strings.TrimPrefix(strings.TrimSpace(line), "?"); ValidID(id) && id != strings.TrimSpace(line) {
				missing.WriteString(id + "\n")
			}
		}
		if missing.Len() == 0 {
			return nil
		}
		// This is how git itself fetches one missing object.
		_, err = r.git.Run(ctx, gitcmd.Call{Args: []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no",
			"--no-auto-maintenance", "--filter=blob:none", "--stdin", "--", remote}, Input: missing.String(), Dir: r.git.Root, User: true, Limit: gitcmd.Slow,
			Config: []string{"fetch.negotiationAlgorithm=noop"}})
		if err != nil {
			return fmt.Errorf("%w: %w", ErrIncomplete, err)
		}
	}
	return ErrIncomplete
}

// Promisor returns the remote that has the missing objects of a partial clone; empty if the clone is whole.
func (r *Repo) Promisor(ctx context.Context) (string, error) {
	settings, err := r.configured(ctx)
	if err != nil {
		return "", fmt.Errorf("find out whether the clone is whole: %w", err)
	}
	for _, s := range settings {
		name, ok := strings.CutSuffix(s.key, ".promisor")
		if ok && s.value == "true" && strings.HasPrefix(name, "remote.") {
			name = strings.TrimPrefix(name, "remote.")
			return name, checkRemote(name)
		}
	}
	return "", nil
}
