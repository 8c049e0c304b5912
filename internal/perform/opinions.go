package perform

import (
	"context"
	"fmt"
	"slices"

	"signalbox/internal/forge"
	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

// opinions returns what people and programs on the forge think of the head, without what the run took up before.
func (x *execution) opinions(ctx context.Context) (said forge.Opinions, err error) {
	judged, ok := x.Forge.(forge.Judged)
	if !ok {
		return said, nil
	}
	if said, err = judged.Opinions(ctx, x.run.Details.PullRequest.Number); err != nil {
		return said, err
	}
	said.Objections = slices.DeleteFunc(said.Objections, func(o forge.Objection) bool {
		return slices.ContainsFunc(x.run.Details.Objections, func(known workflow.Objection) bool { return known.ID == o.ID })
	})
	return said, nil
}

// awaits is what is missing, for the document.
func (x *execution) awaits(missing *forge.Awaited) *workflow.Await {
	if missing == nil {
		return nil
	}
	a := &workflow.Await{Kind: await.Kind(missing.Kind), Missing: missing.Missing, Required: missing.Required}
	for _, name := range missing.Of {
		a.Of = append(a.Of, x.clean(name))
	}
	return a
}

func (x *execution) objections(said []forge.Objection) (objections []workflow.Objection) {
	for _, o := range said {
		objections = append(objections, workflow.Objection{ID: o.ID, Thread: o.Thread,
			Finding: workflow.Finding{Source: workflow.FoundOnForge, File: x.clean(o.Path), Line: o.Line, Text: x.clean(o.Text)}})
	}
	return objections
}

// replies answers the objections that the head addresses, in their threads.
func (x *execution) replies(ctx context.Context, number int) error {
	judged, ok := x.Forge.(forge.Judged)
	if !ok {
		return nil
	}
	for _, o := range x.run.Details.Objections {
		if o.Thread == "" || o.Finding.Text == "" {
			continue
		}
		if err := judged.Reply(ctx, number, o.Thread, x.run.RunID+"/"+o.ID, fmt.Sprintf("Addressed in %s.", x.run.Details.Head)); err != nil {
			return err
		}
	}
	return nil
}
