package environments

import (
	"context"
	"fmt"

	"signalbox/internal/registry"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Cleared is one environment of a clean-up: what is thought of it, what makes it a person's to decide, and what was done.
type Cleared struct {
	registry.Clearance
	Unproven string `json:"unproven,omitempty"`
	// Done is delete or review in a dry run, else deleted, kept or review.
	Done    string `json:"done"`
	KeptRef string `json:"kept_ref,omitempty"`
}

const (
	Deleted = "deleted"
	Kept    = "kept"
)

// CleanUp deletes what was merged long ago or is abandoned. What is not proven to be wanted gone it asks agree about; tell hears of
// each, with what hindered it. In a dry run nothing is deleted and nobody is asked.
func (e *Environments) CleanUp(ctx context.Context, dry bool, agree func(context.Context, *Cleared) (bool, error), tell func(Cleared, error)) {
	for _, found := range e.Environments.CleanUp(e.now()) {
		c := Cleared{Clearance: found, Done: string(found.Verdict)}
		err := e.clear(ctx, &c, dry, agree)
		tell(c, err)
	}
}

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
	if c.KeptRef, err = e.delete(ctx, run, c.EnvID); err == nil {
		c.Done = Deleted
	}
	return err
}

func (e *Environments) delete(ctx context.Context, run *workflow.Run, id string) (kept string, err error) {
	if run != nil {
		removed, err := e.removeOfRun(ctx, run, false)
		return removed.KeptRef, err
	}
	err = e.store.Environments().Update(ctx, func(doc *registry.Environments) error {
		for _, still := range doc.CleanUp(e.now()) { // somebody may have gone on with it while the question stood
			if still.EnvID == id && still.Verdict == registry.ClearDelete {
				return doc.Remove(id)
			}
		}
		return fmt.Errorf("environment %s was taken up again", id)
	})
	return "", wire.Explained(err)
}
