package app

import (
	"context"

	"signalbox/internal/place"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Change is what a run changed so far: exactly what an approval agrees to. Base is the commit that it is compared with.
type Change struct {
	RequestID string        `json:"request_id"`
	RunID     string        `json:"run_id"`
	Base      string        `json:"base"`
	Head      string        `json:"head"`
	Files     []ChangedFile `json:"files"`
}

// ChangedFile is one file of a change. Added and Deleted are lines; -1 for a binary file.
type ChangedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}

// Change lists the files that a run changed, without secrets in their names.
func (p *App) Change(ctx context.Context, run *workflow.Run) (Change, error) {
	c := Change{run.RequestID, run.RunID, "", run.Details.Head, []ChangedFile{}}
	if c.Head == "" { // the branch isn't made yet
		return c, nil
	}
	var err error
	if c.Base, err = place.Before(ctx, p.Repo, run, c.Head); err != nil {
		return c, wire.Explained(err)
	}
	files, err := p.Repo.Changes(ctx, c.Base, c.Head)
	for _, f := range files {
		c.Files = append(c.Files, ChangedFile{p.Redact.Line(f.Path, 400), f.Added, f.Deleted})
	}
	return c, wire.Explained(err)
}
