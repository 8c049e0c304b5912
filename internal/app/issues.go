package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"signalbox/internal/commandline"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// The status of issues stands without any run and outside of git: of the project only its documents are opened.

// IssueStatus reads one issue's record; found is false where there is none.
func IssueStatus(ctx context.Context, o *Opener, n int) (status registry.IssueStatus, found bool, err error) {
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return status, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	status, err = s.IssueStatus(n).Load(ctx)
	if err == nil && status.Status == registry.IssueRunning && settled(ctx, o, s) {
		status, err = s.IssueStatus(n).Load(ctx)
	}
	if err == nil && status.Status == registry.IssueRunning {
		var runs map[int]workflow.Run
		if runs, err = cutOff(ctx, s); err == nil {
			status = asLeft(runs, status)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return registry.IssueStatus{Issue: n, Status: registry.IssueUnknown}, false, nil
	}
	return status, err == nil, wire.Explained(err)
}

// IssueStatuses reads all records. One that cannot be read says so in its entry.
func IssueStatuses(ctx context.Context, o *Opener) (entries []store.IssueStatusEntry, err error) {
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	settled(ctx, o, s)
	entries, err = s.IssueStatuses(ctx)
	if err == nil && slices.ContainsFunc(entries, func(e store.IssueStatusEntry) bool { return e.Status.Status == registry.IssueRunning }) {
		var runs map[int]workflow.Run
		runs, err = cutOff(ctx, s)
		for i := range entries {
			entries[i].Status = asLeft(runs, entries[i].Status)
		}
	}
	return entries, wire.Explained(err)
}

// settled has sessions that were killed written down as such before somebody reads that they run; false
// where there are none. Who may not write reads what is there.
func settled(ctx context.Context, o *Opener, s *store.Store) bool {
	names, err := s.Sessions(ctx)
	if err != nil || len(names) == 0 {
		return false
	}
	writable, err := o.OpenStore(ctx)
	if err == nil {
		err = errors.Join(SettleSessions(ctx, writable), writable.Close())
	}
	if err != nil {
		o.Log.Warn("look for sessions that were killed", "error", err)
	}
	return err == nil
}

// cutOff are the runs, by issue, that should move and that no process carries.
func cutOff(ctx context.Context, s *store.Store) (map[int]workflow.Run, error) {
	all, err := s.Runs(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	holders, err := s.Holders(ctx)
	if err != nil {
		return nil, err
	}
	runs := map[int]workflow.Run{}
	for _, r := range all { // the newest of each request comes last
		held := slices.ContainsFunc(holders, func(h store.Holding) bool { return h.Name == "request-"+r.Ref.RequestID })
		if r.Err == nil && !held {
			runs[r.Run.Details.Number] = r.Run
		}
	}
	return runs, nil
}

// asLeft is the status of an issue with what its run, if that was cut off, could not write any more.
func asLeft(cutOff map[int]workflow.Run, status registry.IssueStatus) registry.IssueStatus {
	if run, found := cutOff[status.Issue]; found {
		return registry.CutOff(&run, status, commandline.Line)
	}
	return status
}

// SetIssue writes an issue's status, durably.
func SetIssue(ctx context.Context, o *Opener, n int, word registry.IssueStatusWord, session, message string) error {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return err
	}
	err = s.IssueStatus(n).Update(ctx, func(status *registry.IssueStatus) error {
		status.Set(word, session, message, now())
		return nil
	})
	return errors.Join(wire.Explained(err), s.Close())
}

// RemoveIssue removes an issue's status. One that is not there is no error.
func RemoveIssue(ctx context.Context, o *Opener, n int) error {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return err
	}
	return errors.Join(wire.Explained(s.IssueStatus(n).Remove(ctx)), s.Close())
}

// OrphanedIssues have a status but no folder.
func OrphanedIssues(ctx context.Context, o *Opener) ([]int, error) {
	s, err := o.OpenStoreToRead(ctx)
	if err != nil {
		return nil, err
	}
	orphans, err := orphanedIssues(ctx, s)
	return orphans, errors.Join(wire.Explained(err), s.Close())
}

// CleanIssues removes the status of issues that nobody waits for any more.
func CleanIssues(ctx context.Context, o *Opener, c *IssueCleanup) error {
	s, err := o.OpenStoreToChange(ctx, c.Dry)
	if err != nil {
		return err
	}
	return errors.Join(wire.Explained(c.in(ctx, s)), s.Close())
}
