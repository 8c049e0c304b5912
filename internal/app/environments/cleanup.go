package environments

import (
	"context"
	"fmt"

	"signalbox/internal/registry"
	"signalbox/internal/wire"
)

// Cleared is one environment of a cleanup: the verdict, why a person must decide (Unproven), and what was done.
type Cleared struct {
	registry.Clearance
	Unproven string `json:"unproven,omitempty"`
	// Done is delete or review in a dry run, otherwise deleted, kept or review.
	Done    string `json:"done"`
	KeptRef string `json:"kept_ref,omitempty"`
}

// What a cleanup did with an environment.
const (
	Deleted = "deleted"
	Kept    = "kept"
)

// CleanUp deletes environments that were merged long ago or are abandoned. If there is no proof for that, it asks agree. tell hears of
// each, with the error that prevented it. A dry run deletes nothing and asks nothing.
func (e *Environments) CleanUp(ctx context.Context, dry bool, agree func(context.Context, *Cleared) (bool, error), tell func(Cleared, error)) {
	for _, found := range e.Environments.CleanUp(e.opener.Now()) {
		c := Cleared{Clearance: found, Done: string(found.Verdict)}
		err := e.clear(ctx, &c, dry, agree)
		tell(c, err)
	}
}

// clear decides about one environment, and deletes it or, if no run made it, its entry.
func (e *Environments) clear(ctx context.Context, c *Cleared, dry bool, agree func(context.Context, *Cleared) (bool, error)) error {
	run, err := runOf(ctx, e.store, c.EnvID)
	if err != nil {
		c.Done = Kept
		return wire.Explained(err)
	}
	switch {
	case run == nil:
		c.Unproven = "its environment was not made here and is left alone; only the entry would go"
	case !run.State.Final():
		c.Unproven = fmt.Sprintf("its run %s is not over (%s)", run.Ref(), run.State)
	}
	if dry || c.Verdict != registry.ClearDelete {
		return nil
	}
	c.Done = Kept
	if c.Unproven != "" {
		if agreed, err := agree(ctx, c); err != nil || !agreed {
			return err
		}
	}
	if run != nil {
		var removed Removed
		removed, err = e.removeOfRun(ctx, run, false)
		c.KeptRef = removed.KeptRef
	} else {
		err = wire.Explained(e.store.Environments().Update(ctx, func(doc *registry.Environments) error {
			for _, still := range doc.CleanUp(e.opener.Now()) { // someone may have resumed it since the question
				if still.EnvID == c.EnvID && still.Verdict == registry.ClearDelete {
					return doc.Remove(c.EnvID)
				}
			}
			return fmt.Errorf("environment %s was continued", c.EnvID)
		}))
	}
	if err == nil {
		c.Done = Deleted
	}
	return err
}
