package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"signalbox/internal/git"
	"signalbox/internal/perform/report"
	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

// shown is the present content of the projections, so that unchanged ones aren't written again.
type shown struct {
	entry  *registry.Environment
	status registry.IssueStatus
	report string
	errors *workflow.Error
	once   bool
}

// Project implements engine.Performer. It updates everything that is derived from the run: environments.json, the issue
// status, report.md, errors.json and the branch. An engine's first call writes all of them.
func (p *Performer) Project(ctx context.Context, run workflow.Run) error {
	x := p.of(run)
	err := errors.Join(x.projectStatus(ctx), x.projectEnvironment(ctx), x.projectReport(ctx), x.projectBranch(ctx))
	x.shown.once = true
	if err != nil {
		return err
	}
	x.logged("announce the run", x.announced.Tell(ctx, run, x.theRequest)) // the run goes on without it
	return nil
}

// Observing passes every saved transition on to observe, and tells people of a question while the action that asks it goes on.
func (p *Performer) Observing(observe func(workflow.Run)) func(workflow.Run) {
	return func(run workflow.Run) {
		if observe != nil {
			observe(run)
		}
		p.of(run).announced.Observe(run)
	}
}

func (x *execution) projectStatus(ctx context.Context) error {
	j := &x.run.Details
	if j.Preparing && j.EnvID != "" && !j.EnvRemoved &&
		(x.run.State == workflow.Running || x.run.Error != nil && x.run.Error.ReasonCode == workflow.PreparedCode) {
		return nil // the run has its environment: from here on the session sets the status
	}
	status := registry.IssueStatusOf(&x.run)
	same := x.shown.status
	same.Timestamp = status.Timestamp
	if x.shown.once && reflect.DeepEqual(same, status) {
		return nil
	}
	x.shown.status = status
	return x.IssueStatus(status.Issue).Update(ctx, func(s *registry.IssueStatus) error {
		// A session may have worked on in the environment after the run ended. Its status counts until the run moves,
		// and canceling a run undoes no success.
		givenUp := j.Canceling || x.run.State == workflow.Canceled
		if x.run.State.Ended() && s.Timestamp.After(*x.run.EndedAt) || givenUp && s.Status == registry.IssueComplete {
			return nil
		}
		status.Unknown = s.Unknown
		*s = status
		return nil
	})
}

func (x *execution) projectEnvironment(ctx context.Context) error {
	entry, ok := registry.EntryOf(&x.run)
	same := x.shown.entry == nil && !ok
	if x.shown.entry != nil && ok {
		before := *x.shown.entry
		before.LastUsedAt = entry.LastUsedAt
		same = reflect.DeepEqual(before, entry)
	}
	if x.shown.once && same {
		return nil
	}
	x.shown.entry = nil
	if ok {
		x.shown.entry = &entry
	}
	id := x.run.EnvironmentID()
	if x.run.Details.EnvID == "" && !ok { // it may have an entry if it was admitted and then blocked
		doc, err := x.Places.Registry.Load(ctx)
		if x.run.Details.Epoch == 0 || err != nil || !slices.ContainsFunc(doc.Environments, func(e registry.Environment) bool { return e.EnvID == id }) {
			return nil
		}
	}
	return x.Places.Registry.Update(ctx, func(doc *registry.Environments) error {
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

// projectReport writes the report if it changed, and keeps errors.json exactly while the run has an error.
func (x *execution) projectReport(ctx context.Context) error {
	text := report.Of(&x.run)
	if text != x.shown.report {
		if _, err := x.Artifacts.WriteReport(ctx, workflow.RefOf(&x.run), []byte(text)); err != nil {
			return err
		}
		x.shown.report = text
	}
	if x.shown.once && reflect.DeepEqual(x.shown.errors, x.run.Error) {
		return nil
	}
	x.shown.errors = x.run.Error
	_, err := x.Artifacts.WriteErrors(ctx, workflow.RefOf(&x.run), x.run.Error)
	return err
}

// projectBranch moves the branch to the last recorded commit if it is where the document expects it. Look handles a branch
// that a person moved.
func (x *execution) projectBranch(ctx context.Context) error {
	j := x.run.Details
	if j.Head == "" || j.Head == j.BranchAt || j.EnvRemoved {
		return nil
	}
	at, err := x.branchAt(ctx)
	if err == nil && at != j.Head && at == j.BranchAt {
		err = x.Repo.UpdateRef(ctx, x.branchRef(), j.Head, at)
	}
	if err != nil && !errors.Is(err, git.ErrRefMoved) {
		return fmt.Errorf("move branch %q: %w", j.Branch, err)
	}
	return nil
}

func (x *execution) branchRef() string { return "refs/heads/" + x.run.Details.Branch }
