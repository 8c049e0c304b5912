package hosted

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"signalbox/internal/forge"
)

// Way is how a tested change gets onto its base branch.
type Way string

const (
	// Exact: the merge commit that was tested is pushed to the base. Nothing else can get there.
	Exact Way = "exact"
	// Guarded: the server merges, on condition that the head is the tested one. Another merge may come between, so the trees are compared
	// afterwards.
	Guarded Way = "guarded"
	// Queue: the server's own queue merges.
	Queue Way = "queue"
)

// errNoQueue: the branch has no queue, so nothing would ever merge.
var errNoQueue = errors.New("the branch has no merge queue")

// Choose returns the way to merge into a branch, and why: the wanted one, or the surest that the server allows. An empty wish is none.
func Choose(wanted Way, r forge.Repository, asked forge.Requirements) (way Way, why string, err error) {
	switch {
	case wanted == Exact && (asked.PushRefused || asked.Queue):
		return "", "", fmt.Errorf("%w: the branch is protected against pushes, and the configured way to merge is %q", forge.ErrRemote, Exact)
	case wanted == Exact:
		return Exact, configured, nil
	case wanted == Queue && !asked.Queue:
		return "", "", fmt.Errorf("the configured way to merge is %q: %w", wanted, errNoQueue)
	case asked.Queue && wanted != Guarded:
		return Queue, "the branch has a merge queue; its CI has to run for the queue too", nil
	case asked.Queue:
		return "", "", fmt.Errorf("%w: the server merges into the branch by a queue, and the configured way to merge is %q", forge.ErrRemote, Guarded)
	case wanted == Guarded:
		return Guarded, configured, nil
	case asked.Unknown:
		return Guarded, "the account may not read the protection of the branch", nil
	case asked.PushRefused:
		return Guarded, "the branch is protected against pushes", nil
	case asked.Approvals > 0: // some accounts could push past the people who must approve, and that is never wanted
		return Guarded, fmt.Sprintf("%d must approve on the forge", asked.Approvals), nil
	case len(r.Methods) > 0 && !slices.Contains(r.Methods, "merge"):
		return Guarded, "the repository does not allow merge commits", nil
	}
	return Exact, "the account may push to the branch", nil
}

// configured is why a way is taken that the configuration names.
const configured = "forge.merge says so"

// way asks the server for what Choose needs beside the repository.
func (f *Forge) way(ctx context.Context, repository forge.Repository, base string) (Way, error) {
	asked, err := f.Server.Required(ctx, base)
	if errors.Is(err, forge.ErrNotFound) {
		return "", fmt.Errorf("%w: the forge lacks %q, so push it", forge.ErrNoBase, base)
	}
	if err != nil {
		return "", fmt.Errorf("ask the forge for the protection of %q: %w", base, err)
	}
	way, _, err := Choose(f.Config.Merge, repository, asked)
	if err != nil {
		return "", fmt.Errorf("merge into %q: %w", base, err)
	}
	return way, nil
}
