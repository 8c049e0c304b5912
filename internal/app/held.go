package app

import (
	"context"
	"fmt"
	"strings"

	"signalbox/internal/problem"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// HeldRequest says who works on a request.
func HeldRequest(number int, by store.LockRecord) error {
	if name, ok := strings.CutPrefix(by.Owner, SessionOwner); ok {
		return &problem.Error{Code: problem.Held, Err: fmt.Errorf("session %s works on request %d: %s", name, number, Holder(by)),
			Hint: fmt.Sprintf("follow it: signalbox session watch %d; or end it: signalbox session stop %[1]d", number)}
	}
	return &problem.Error{Code: problem.Held, Hint: fmt.Sprintf("follow it: signalbox watch %d", number),
		Err: fmt.Errorf("request %d is carried by another process: %s", number, Holder(by))}
}

// WaitsForApproval: the run's change is made, and a person is to decide on it.
func WaitsForApproval(run *workflow.Run) bool {
	return run.State == workflow.NeedsInput && run.Details.Phase == workflow.ApprovalWait
}

// Undecided refuses what would take a change away from whoever decides on it.
func Undecided(run *workflow.Run) error {
	if !WaitsForApproval(run) {
		return nil
	}
	n := run.Details.Number
	return &problem.Error{Err: fmt.Errorf("the change of request %d waits for approval", n), Code: problem.Held,
		Hint: fmt.Sprintf("decide first: signalbox approve %d; or signalbox reject %[1]d \"what to change\"", n)}
}

// SessionOwner begins the name under which a session holds its request.
const SessionOwner = "session "

// Held reports whether some process carries the request now.
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
