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

// errNoQueue: the server merges by a queue only.
var errNoQueue = errors.New("merge queues are not supported yet")

// choose returns the way to merge into a branch: the wanted one, or the surest that the server allows.
func choose(wanted Way, r forge.Repository, asked forge.Requirements) (Way, error) {
	switch wanted {
	case Exact:
		if asked.PushRefused || asked.Queue {
			return "", fmt.Errorf("%w: the branch is protected against pushes, and the configured way to merge is %q", forge.ErrRemote, Exact)
		}
		return Exact, nil
	case Guarded, "":
	default:
		return "", fmt.Errorf("the configured way to merge is %q: %w", wanted, errNoQueue)
	}
	if asked.Queue {
		return "", errNoQueue
	}
	forbids := len(r.Methods) > 0 && !slices.Contains(r.Methods, "merge")
	// To push past people whose approval the server asks for would be possible for some accounts, and is never wanted.
	if wanted == Guarded || asked.Unknown || asked.PushRefused || asked.Approvals > 0 || forbids {
		return Guarded, nil
	}
	return Exact, nil
}

// way asks the server for what choose needs.
func (f *Forge) way(ctx context.Context, base string) (forge.Repository, Way, error) {
	repository, err := f.Server.Repository(ctx)
	if err != nil {
		return repository, "", fmt.Errorf("ask the forge for the repository: %w", err)
	}
	asked, err := f.Server.Required(ctx, base)
	if errors.Is(err, forge.ErrNotFound) {
		return repository, "", fmt.Errorf("%w: the forge lacks %q, so push it", forge.ErrNoBase, base)
	}
	if err != nil {
		return repository, "", fmt.Errorf("ask the forge for the protection of %q: %w", base, err)
	}
	way, err := choose(f.Config.Merge, repository, asked)
	if err != nil {
		return repository, "", fmt.Errorf("merge into %q: %w", base, err)
	}
	return repository, way, nil
}
