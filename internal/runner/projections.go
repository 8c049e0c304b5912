package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"signalbox/internal/commandline"
	"signalbox/internal/git"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// shown is what the projections say now, so that a transition which changes
// nothing in them writes nothing.
type shown struct {
	entry  *registry.Environment
	status registry.IssueStatus
	report string
	// comment is the progress comment; empty until this runner wrote it.
	comment string
	errors  *workflow.Error
	once    bool
}

// project brings everything that is read off the run up to date: environments.json, the
// issue status, report.md, errors.json and the branch. At start all are written anew.
func (w *work) project(ctx context.Context) error {
	err := errors.Join(w.projectStatus(ctx), w.projectEnvironment(ctx), w.projectReport(ctx), w.projectBranch(ctx))
	w.shown.once = true
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	w.logged("write progress comment", w.projectComment(ctx))
	return nil
}

// progressKey names the one comment on a request that says how far it is (P9).
const progressKey = "signalbox/progress"

// projectComment edits the progress comment. It is for people; the run goes on without it.
func (w *work) projectComment(ctx context.Context) error {
	text := w.clean(w.run.ProgressComment(commandline.Line))
	if text == w.shown.comment || w.run.State == workflow.Queued {
		return nil
	}
	request, err := w.theRequest(ctx)
	if err != nil {
		return err
	}
	w.shown.comment = text
	return w.Forge.Comment(ctx, request, progressKey, text)
}

func (w *work) projectStatus(ctx context.Context) error {
	if w.prepares && prepared(&w.run) {
		return nil // whoever it was prepared for says how it goes on
	}
	status := registry.IssueStatusOf(&w.run)
	same := w.shown.status
	same.Timestamp = status.Timestamp
	if w.shown.once && reflect.DeepEqual(same, status) {
		return nil
	}
	w.shown.status = status
	return w.Store.IssueStatus(status.Issue).Update(ctx, func(s *registry.IssueStatus) error {
		if w.standsAside(s) {
			return nil
		}
		status.Unknown = s.Unknown
		*s = status
		return nil
	})
}

// standsAside: a session went on in the run's environment after the run stood still. What it said
// stands until the run moves, and a run that is given up undoes no success.
func (w *work) standsAside(s *registry.IssueStatus) bool {
	givenUp := w.run.Journey.Canceling || w.run.State == workflow.Canceled
	return w.run.State.Ended() && s.Timestamp.After(*w.run.EndedAt) || givenUp && s.Status == registry.IssueComplete
}

func (w *work) projectEnvironment(ctx context.Context) error {
	entry, ok := registry.EntryOf(&w.run)
	if w.shown.once && sameEntry(w.shown.entry, &entry, ok) {
		return nil
	}
	w.shown.entry = nil
	if ok {
		w.shown.entry = &entry
	}
	id := w.run.EnvironmentID()
	if w.run.Journey.EnvID == "" && !ok && !w.registered(ctx, id) {
		return nil
	}
	return w.Store.Environments().Update(ctx, func(doc *registry.Environments) error {
		i := slices.IndexFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == id })
		switch {
		case i < 0 && ok:
			doc.Environments = append(doc.Environments, entry)
		case i >= 0 && ok:
			entry.Unknown, entry.Area = doc.Environments[i].Unknown, cmp.Or(doc.Environments[i].Area, entry.Area)
			doc.Environments[i] = entry
		case i >= 0:
			doc.Environments = slices.Delete(doc.Environments, i, i+1)
		}
		return nil
	})
}

// registered reports whether the run, which has no environment yet, was blocked and has an entry for that.
func (w *work) registered(ctx context.Context, id string) bool {
	if w.run.Journey.Epoch == 0 {
		return false // it was never admitted
	}
	doc, err := w.Store.Environments().Load(ctx)
	return err == nil && slices.ContainsFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == id })
}

func sameEntry(shown, entry *registry.Environment, ok bool) bool {
	if shown == nil || !ok {
		return shown == nil && !ok
	}
	same := *shown
	same.LastUsedAt = entry.LastUsedAt
	return reflect.DeepEqual(&same, entry)
}

// projectReport writes the report when there is something new to say, and
// errors.json exactly while the run has an error.
func (w *work) projectReport(ctx context.Context) error {
	report := w.report()
	if report != w.shown.report {
		if _, err := w.Store.WriteReport(ctx, w.ref, []byte(report)); err != nil {
			return err
		}
		w.shown.report = report
	}
	if w.shown.once && reflect.DeepEqual(w.shown.errors, w.run.Error) {
		return nil
	}
	w.shown.errors = w.run.Error
	_, err := w.Store.WriteErrors(ctx, w.ref, w.run.Error)
	return err
}

// projectBranch moves the branch to the last recorded commit from where the document says that it may
// be moved. Where somebody else put it is looked at before the next action: see lookAtBranch.
func (w *work) projectBranch(ctx context.Context) error {
	j := w.run.Journey
	if j.Head == "" || j.Head == j.BranchAt || j.EnvRemoved {
		return nil
	}
	at, err := w.branchAt(ctx)
	if err == nil && at != j.Head && at == j.BranchAt {
		err = w.Repo.UpdateRef(ctx, w.branchRef(), j.Head, at)
	}
	if err != nil && !errors.Is(err, git.ErrRefMoved) {
		return fmt.Errorf("move branch %q: %w", j.Branch, err)
	}
	return nil
}

func (w *work) branchRef() string { return "refs/heads/" + w.run.Journey.Branch }
