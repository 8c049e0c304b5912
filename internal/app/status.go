package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Standing is where a run is.
type Standing struct {
	Run workflow.Run
	// Interrupted: the run should move, but no process runs it.
	Interrupted bool
	// Holder is the process that runs it, if Held.
	Holder store.LockRecord
	Held   bool
	// Issue is set instead of Run if another tool wrote the issue's status and there is no run.
	Issue *registry.IssueStatus
}

// Status says where the run that ref names is.
func (p *App) Status(ctx context.Context, ref string) (at Standing, err error) {
	if err := SettleSessions(ctx, p.Store); err != nil {
		return at, wire.Explained(err)
	}
	found, err := p.Find(ctx, ref)
	if problem.CodeOf(err) == problem.NotFound {
		if n, notNumber := strconv.Atoi(strings.TrimPrefix(ref, "#")); notNumber == nil {
			status, statusErr := p.Store.IssueStatus(n).Load(ctx)
			if !errors.Is(statusErr, fs.ErrNotExist) {
				at.Issue = &status
				return at, wire.Explained(statusErr)
			}
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

// NextSteps returns what a person can do about a run, the best first; nothing if it needs no one, or only an answer to its question.
func NextSteps(r *workflow.Run, interrupted bool) []workflow.NextStep {
	switch {
	case r.Error != nil:
		return r.Error.Next
	case interrupted:
		return []workflow.NextStep{r.Ask("continue it", workflow.VerbResume)}
	case r.Details.Question == nil && r.AsksForApproval():
		return []workflow.NextStep{r.Ask("look at the change", workflow.VerbDiff), r.Ask("approve it", workflow.VerbApprove), r.SendBack("or send it back")}
	}
	return nil
}

// HeldRequest is the error that another process works on a request.
func HeldRequest(number int, by store.LockRecord) error {
	if name, ok := strings.CutPrefix(by.Owner, SessionOwner); ok {
		return &problem.Error{Code: problem.Held, Err: fmt.Errorf("session %s works on request %d: %s", name, number, Holder(by)),
			Hint: fmt.Sprintf("follow it: signalbox session watch %d; or end it: signalbox session stop %[1]d", number)}
	}
	return &problem.Error{Code: problem.Held, Hint: fmt.Sprintf("follow it: signalbox watch %d", number),
		Err: fmt.Errorf("another process works on request %d: %s", number, Holder(by))}
}

// WaitsForApproval reports whether the run's change waits for a person's decision.
func WaitsForApproval(run *workflow.Run) bool {
	return run.AsksForApproval()
}

// Undecided refuses to take away a change that waits for a person's decision.
func Undecided(run *workflow.Run) error {
	if !WaitsForApproval(run) {
		return nil
	}
	return &problem.Error{Err: fmt.Errorf("the change of request %d waits for approval", run.Details.Number), Code: problem.Held,
		Hint: fmt.Sprintf("decide first: %s; or %s", commandline.For(run, workflow.VerbApprove), commandline.Line(run.SendBack("")))}
}

// SessionOwner is the prefix of the name under which a session locks its request.
const SessionOwner = "session "

// Held reports whether a process works on the request now, and which.
func (p *App) Held(ctx context.Context, requestID string) (store.LockRecord, bool, error) {
	holders, err := p.Store.Holders(ctx)
	if err != nil {
		return store.LockRecord{}, false, wire.Explained(err)
	}
	for _, h := range holders {
		if h.Name == "request-"+requestID {
			return h.Record, true, nil
		}
	}
	return store.LockRecord{}, false, nil
}
