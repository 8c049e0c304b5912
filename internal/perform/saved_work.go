package perform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// savedWorkRef names the ref for work in the environment that takes no part in the run. Work from before this engine did
// anything there has a marked name, by which a later engine finds it.
func (x *execution) savedWorkRef(a workflow.Action) string {
	name := a.Key
	if !x.presence.Entered {
		name = foundMark + a.Key
	}
	return fmt.Sprintf("%s/%s-%s-%d", place.KeptFolder(&x.run), x.run.RunID, name, x.Clock.Now().Unix())
}

const foundMark = "found-"

// reportFound reports found work, also that which an engine saved before it was killed.
func (x *execution) reportFound(ctx context.Context) error {
	refs, err := x.Repo.Refs(ctx, place.KeptFolder(&x.run))
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, place.KeptFolder(&x.run)+"/"+x.run.RunID+"-"+foundMark) {
			x.reportRef(ctx, ref.Name)
		}
	}
	return err
}

func (x *execution) reportRef(ctx context.Context, ref string) {
	if slices.Contains(x.run.Details.SavedWork, ref) {
		return
	}
	x.progress.Found(ctx, workflow.WorkFound{Ref: ref})
}

// visited reports whether a session worked in the environment, and the run hasn't since.
func (x *execution) visited(ctx context.Context) (bool, error) {
	if x.presence.Entered {
		return false, nil
	}
	names, err := x.Sessions(ctx)
	return slices.Contains(names, registry.SessionName(x.run.Details.Number)), err
}

// keepLeft saves the work in an environment that is about to be made again: a failed agent may have left it.
func (x *execution) keepLeft(ctx context.Context, a workflow.Action) error {
	if exists, err := x.Places.Exists(&x.run); err != nil || !exists || x.presence.Content == x.run.Details.Head || x.presence.TestedAt == x.run.Details.Head {
		return err
	}
	env, head, err := x.Places.Left(ctx, &x.run)
	if err == nil {
		x.presence.Content, x.presence.TestedAt = "", ""
		err = env.Reset(ctx, head, x.savedWorkRef(a))
	}
	if err != nil {
		return fmt.Errorf("save the work in the environment: %w", err)
	}
	x.presence.Entered = true
	return x.reportFound(ctx)
}

// dropWork clears the environment at a person's request. It still saves the work if it can.
func (x *execution) dropWork(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, head, err := x.Places.Left(ctx, &x.run)
	if err != nil {
		return nil, err
	}
	x.presence.Content = ""
	if err = env.Reset(ctx, head, x.savedWorkRef(a)); errors.Is(err, environment.ErrTooLarge) {
		err = env.Reset(ctx, head, "")
	}
	if err != nil {
		return nil, fmt.Errorf("bring environment to %.10s: %w", head, err)
	}
	return workflow.WorkDropped{Outcome: o}, x.reportFound(ctx)
}
