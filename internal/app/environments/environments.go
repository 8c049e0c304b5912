// Package environments owns what a person can ask of environments: of their entries in environments.json, which need no run and no
// git, and of the environments that runs made. It prints nothing and reads no flag.
package environments

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// Environments are the documents of a project, opened, with environments.json as it was then.
type Environments struct {
	registry.Environments
	store  *store.Store
	opener *app.Opener
}

// Open reads environments.json; a missing one is empty. With readOnly it leaves the documents as they are.
func Open(ctx context.Context, o *app.Opener, readOnly bool) (*Environments, error) {
	s, err := o.OpenStoreToChange(ctx, readOnly)
	if err != nil {
		return nil, err
	}
	doc, err := s.Environments().Load(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		doc = registry.Environments{Environments: []registry.Environment{}}
	case err != nil:
		return nil, wire.Explained(errors.Join(err, s.Close()))
	}
	return &Environments{Environments: doc, store: s, opener: o}, nil
}

// Close closes the documents.
func (e *Environments) Close() error { return e.store.Close() }

// Read returns the document alone.
func Read(ctx context.Context, o *app.Opener) (registry.Environments, error) {
	e, err := Open(ctx, o, true)
	if err != nil {
		return registry.Environments{}, err
	}
	return e.Environments, e.Close()
}

// Changed is an entry after a change of it.
type Changed struct {
	registry.Environment
	// Run is the run at work in the environment, which overwrites the entry at its next transition; nil if there is none. Holder is the
	// process that runs it.
	Run    *workflow.Run
	Holder store.LockRecord
}

// Change performs one operation on the document of o's project and returns the entry with this id as it is then.
func Change(ctx context.Context, o *app.Opener, id string, change func(doc *registry.Environments, now time.Time) error) (after Changed, err error) {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return after, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = s.Environments().Update(ctx, func(doc *registry.Environments) error {
		if err := change(doc, o.Now()); err != nil {
			return err
		}
		e, err := doc.Find(id)
		if err == nil {
			after.Environment = *e
		}
		return err
	})
	if err != nil {
		return after, Explained(id, err)
	}
	after.Run, after.Holder, err = livingRun(ctx, s, id)
	return after, wire.Explained(err)
}

// ChangeForeign is Change for a program that no person watches: it refuses the entry of a run, which only Signalbox writes.
func ChangeForeign(ctx context.Context, o *app.Opener, id string, change func(doc *registry.Environments, now time.Time) error) (registry.Environment, error) {
	if err := foreign(ctx, o, id); err != nil {
		return registry.Environment{}, err
	}
	after, err := Change(ctx, o, id, change)
	return after.Environment, err
}

// RemoveForeign removes the entry of an environment that another program made and deleted.
func RemoveForeign(ctx context.Context, o *app.Opener, id string) (done Removed, err error) {
	if err := foreign(ctx, o, id); err != nil {
		return done, err
	}
	e, err := Open(ctx, o, false)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	return e.Remove(ctx, id, false)
}

// foreign refuses the environment of a run.
func foreign(ctx context.Context, o *app.Opener, id string) error {
	s, err := o.OpenStore(ctx)
	if err != nil {
		return err
	}
	run, err := runOf(ctx, s, id)
	if err = errors.Join(wire.Explained(err), s.Close()); err != nil {
		return err
	}
	if run != nil {
		return &problem.Error{Err: fmt.Errorf("environment %q is that of run %s, which keeps its entry itself", id, run.Ref()), Hint: "steer the run instead: signalbox status " + run.Ref()}
	}
	return nil
}

// livingRun is the run at work in the environment, nil if there is none.
func livingRun(ctx context.Context, s *store.Store, envID string) (*workflow.Run, store.LockRecord, error) {
	holders, err := s.Holders(ctx)
	if err != nil {
		return nil, store.LockRecord{}, err
	}
	for _, h := range holders {
		request, ok := strings.CutPrefix(h.Name, "request-")
		if !ok {
			continue
		}
		latest, err := s.LatestRun(ctx, request)
		if err == nil && latest.Err == nil && latest.Run.Details.EnvID == envID {
			return &latest.Run, h.Record, nil
		}
	}
	return nil, store.LockRecord{}, nil
}

// leastBeginning is how many characters of an id name it at least.
const leastBeginning = 4

// Entry is the environment whose id is ref or begins with it. It refuses a ref that fits several, and lists their ids.
func Entry(doc *registry.Environments, ref string) (*registry.Environment, error) {
	var found []string
	for _, e := range doc.Environments {
		if e.EnvID == ref {
			found = []string{ref}
			break
		}
		if len(ref) >= leastBeginning && begins(e.EnvID, ref) {
			found = append(found, e.EnvID)
		}
	}
	switch len(found) {
	case 0:
	case 1:
		ref = found[0]
	default:
		return nil, &problem.Error{Err: fmt.Errorf("%d environments begin with %q", len(found), ref), Hint: "name one: " + redact.Line(strings.Join(found, ", "), 1000), Code: problem.Usage}
	}
	e, err := doc.Find(ref)
	return e, Explained(ref, err)
}

// begins reports whether an id begins with ref. issue-42-… doesn't begin with issue-4.
func begins(id, ref string) bool {
	rest, ok := strings.CutPrefix(id, ref)
	inNumber := ok && strings.HasPrefix(ref, "issue-") && strings.Count(ref, "-") == 1 && rest != "" && '0' <= rest[0] && rest[0] <= '9'
	return ok && !inNumber
}

// Explained adds what to do, and the exit code, to an error about the entry with this id; nil stays nil.
func Explained(id string, err error) error {
	switch {
	case errors.Is(err, registry.ErrNoEnvironment) && app.IssueNumber().MatchString(id):
		return &problem.Error{Err: err, Hint: "an issue's environments: signalbox env find-by-issue " + strings.TrimPrefix(id, "#"), Code: problem.NotFound}
	case errors.Is(err, registry.ErrNoEnvironment):
		return &problem.Error{Err: err, Hint: "see what there is: signalbox env list", Code: problem.NotFound}
	case errors.Is(err, registry.ErrInvalidEntry):
		return &problem.Error{Err: err, Hint: "see \"signalbox env --help\"", Code: problem.Usage}
	case errors.Is(err, registry.ErrNotApplicable):
		return &problem.Error{Err: err, Hint: "look at it: signalbox env show " + commandline.ShellWord(redact.Line(id, 200))}
	}
	return wire.Explained(err)
}
