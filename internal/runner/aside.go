package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"signalbox/internal/environment"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// asideRef is where work goes that lies in the environment and takes no part in the run. What lay
// there before this runner began anything in it has a name by which it is found again.
func (w *work) asideRef(a workflow.Action) string {
	name := a.Key
	if !w.entered {
		name = foundMark + a.Key
	}
	return fmt.Sprintf("%s/%s-%s-%d", w.keptFolder(), w.ref.RunID, name, w.Clock.Now().Unix())
}

const foundMark = "found-"

// keptFolder is where the refs are that keep work of the run's request.
func (w *work) keptFolder() string {
	return fmt.Sprintf("refs/signalbox/kept/%d", w.run.Journey.Number)
}

// tellFound tells of the work that was found; also of what a runner found that was killed before it
// could tell.
func (w *work) tellFound(ctx context.Context) error {
	refs, err := w.Repo.Refs(ctx, w.keptFolder())
	for _, ref := range refs {
		if strings.HasPrefix(ref.Name, w.keptFolder()+"/"+w.ref.RunID+"-"+foundMark) {
			w.tell(ctx, ref.Name)
		}
	}
	return err
}

func (w *work) tell(ctx context.Context, ref string) {
	if slices.Contains(w.run.Journey.Aside, ref) {
		return
	}
	select {
	case w.found <- workflow.WorkFound{Ref: ref}:
	case <-ctx.Done():
	}
}

// visited reports whether a session worked in the environment and nothing of the run has since.
func (w *work) visited(ctx context.Context) (bool, error) {
	if w.entered {
		return false, nil
	}
	names, err := w.Store.Sessions(ctx)
	return slices.Contains(names, registry.SessionName(w.run.Journey.Number)), err
}

// keepLeft sets aside what lies in an environment that is made again: an agent that failed may have left it.
func (w *work) keepLeft(ctx context.Context, a workflow.Action) error {
	dir, err := w.Store.Abs(w.run.Journey.EnvPath)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) || w.content == w.run.Journey.Head || w.testedAt == w.run.Journey.Head {
		return nil
	}
	env, head, err := w.left(ctx)
	if err == nil {
		w.content, w.testedAt = "", ""
		err = env.Reset(ctx, head, w.asideRef(a))
	}
	if err != nil {
		return fmt.Errorf("keep what lies in the environment: %w", err)
	}
	w.entered = true
	return w.tellFound(ctx)
}

// dropWork clears the environment because a person said so. What can be kept still is.
func (w *work) dropWork(ctx context.Context, o workflow.Outcome, a workflow.Action) (workflow.Event, error) {
	env, head, err := w.left(ctx)
	if err != nil {
		return nil, err
	}
	w.content = ""
	if err = env.Reset(ctx, head, w.asideRef(a)); errors.Is(err, environment.ErrTooLarge) {
		err = env.Reset(ctx, head, "")
	}
	if err != nil {
		return nil, fmt.Errorf("bring environment to %.10s: %w", head, err)
	}
	return workflow.WorkDropped{Outcome: o}, w.tellFound(ctx)
}
