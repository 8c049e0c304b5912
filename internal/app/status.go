package app

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Standing is where a run is.
type Standing struct {
	Run workflow.Run
	// Interrupted: the run should move, and no process carries it.
	Interrupted bool
	// Holder is who carries it, if Held.
	Holder store.LockRecord
	Held   bool
	// Issue is the status file of an issue that no run of ours stands behind; nil else, and then there is a run.
	Issue *registry.IssueStatus
}

// Status says where the run is that ref names.
func (p *App) Status(ctx context.Context, ref string) (at Standing, err error) {
	if err := SettleSessions(ctx, p.Store); err != nil {
		return at, wire.Explained(err)
	}
	found, err := p.Find(ctx, ref)
	if problem.CodeOf(err) == problem.NotFound {
		var statusErr error
		if at.Issue, statusErr = p.bareStatus(ctx, ref); at.Issue != nil || statusErr != nil {
			return at, statusErr
		}
	}
	if err != nil {
		return at, err
	}
	at.Run = found.Run
	at.Holder, at.Held, err = p.Held(ctx, found.Ref.RequestID)
	at.Interrupted = at.Run.Interrupted() || at.Run.UnderWay() && !at.Held
	return at, err
}

// bareStatus is the status of the issue with this number; nil where there is none.
func (p *App) bareStatus(ctx context.Context, ref string) (*registry.IssueStatus, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil, nil
	}
	status, err := p.Store.IssueStatus(n).Load(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &status, wire.Explained(err)
}
