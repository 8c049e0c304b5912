package app

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"signalbox/internal/commandline"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// An issue's status needs no run and no git, so these functions open only the project's documents.

// IssueStatus reads one issue's record; found is false if there is none.
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
		err = completeCutOff(ctx, s, &status)
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
		statuses := make([]*registry.IssueStatus, len(entries))
		for i := range entries {
			statuses[i] = &entries[i].Status
		}
		err = completeCutOff(ctx, s, statuses...)
	}
	return entries, wire.Explained(err)
}

// settled records the end of sessions that were killed, before anyone reads that they run. It returns false if there was nothing to
// record, or no right to write.
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

// completeCutOff adds to statuses what the issues' runs could not write any more, because their processes were cut off.
func completeCutOff(ctx context.Context, s *store.Store, statuses ...*registry.IssueStatus) error {
	all, err := s.Runs(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	holders, err := s.Holders(ctx)
	if err != nil {
		return err
	}
	runs := map[int]workflow.Run{}
	for _, r := range all { // the newest of each request comes last
		held := slices.ContainsFunc(holders, func(h store.Holding) bool { return h.Name == "request-"+r.Ref.RequestID })
		if r.Err == nil && !held {
			runs[r.Run.Details.Number] = r.Run
		}
	}
	for _, status := range statuses {
		if run, found := runs[status.Issue]; found {
			*status = registry.CutOff(&run, *status, commandline.Line)
		}
	}
	return nil
}

// SetIssue writes an issue's status, durably.
func SetIssue(ctx context.Context, o *Opener, n int, word registry.IssueStatusWord, session, message string) error {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return err
	}
	err = s.IssueStatus(n).Update(ctx, func(status *registry.IssueStatus) error {
		status.Set(word, session, message, time.Now())
		return nil
	})
	return errors.Join(wire.Explained(err), s.Close())
}

// RemoveIssue removes an issue's status. It is no error if there is none.
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

// CleanIssues removes the statuses that no one waits for any more.
func CleanIssues(ctx context.Context, o *Opener, c *IssueCleanup) error {
	s, err := o.OpenStoreToChange(ctx, c.Dry)
	if err != nil {
		return err
	}
	return errors.Join(wire.Explained(c.in(ctx, s)), s.Close())
}
