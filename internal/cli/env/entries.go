package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"signalbox/internal/app"
	"signalbox/internal/cli/command"
	"signalbox/internal/commandline"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/registry"
	"signalbox/internal/store"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// registered reads the document; none is an empty one.
func registered(ctx context.Context, a *command.Invocation) (doc registry.Environments, err error) {
	s, doc, err := openEnvironments(ctx, a, true)
	if err == nil {
		_ = s.Close()
	}
	return doc, err
}

// openEnvironments opens the store and reads the document in it. Where it fails nothing is left open.
func openEnvironments(ctx context.Context, a *command.Invocation, readOnly bool) (s *store.Store, doc registry.Environments, err error) {
	if s, err = a.Opener.OpenStoreToChange(ctx, readOnly); err != nil {
		return nil, doc, err
	}
	doc, err = s.Environments().Load(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		doc, err = registry.Environments{Environments: []registry.Environment{}}, nil
	case err != nil:
		_ = s.Close()
	}
	return s, doc, wire.Explained(err)
}

// changeEnvironment performs one operation on an entry and shows what became of it.
func changeEnvironment(ctx context.Context, a *command.Invocation, id string, change func(e *registry.Environment, now time.Time) error) error {
	return changeEnvironments(ctx, a, id, func(doc *registry.Environments) error {
		e, err := doc.Find(id)
		if err != nil {
			return err
		}
		return change(e, time.Now())
	})
}

func changeEnvironments(ctx context.Context, a *command.Invocation, id string, change func(*registry.Environments) error) error {
	s, err := a.Opener.OpenStore(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	var after registry.Environment
	err = s.Environments().Update(ctx, func(doc *registry.Environments) error {
		if err := change(doc); err != nil {
			return err
		}
		e, err := doc.Find(id)
		if err == nil {
			after = *e
		}
		return err
	})
	if err != nil {
		return environmentProblem(id, err)
	}
	if err := warnOfRun(ctx, a, s, id); err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(after)
	}
	a.Print("%s\n", summary(&after))
	return nil
}

// leastBeginning is how much of an id stands for it at least.
const leastBeginning = 4

// fullID is the id of the one environment that ref names or begins. What begins several is refused
// with their ids; what begins none is left as it is.
func fullID(doc *registry.Environments, ref string) (string, error) {
	var found []string
	for _, e := range doc.Environments {
		if e.EnvID == ref {
			return ref, nil
		}
		if len(ref) >= leastBeginning && begins(e.EnvID, ref) {
			found = append(found, e.EnvID)
		}
	}
	switch len(found) {
	case 0:
		return ref, nil
	case 1:
		return found[0], nil
	}
	return "", &problem.Error{Err: fmt.Errorf("%d environments begin with %q", len(found), ref), Hint: "name one: " + strings.Join(found, ", "), Code: problem.Usage}
}

// begins: issue-4 is no beginning of issue-42-….
func begins(id, ref string) bool {
	rest, ok := strings.CutPrefix(id, ref)
	inNumber := ok && strings.HasPrefix(ref, "issue-") && strings.Count(ref, "-") == 1 && rest != "" && '0' <= rest[0] && rest[0] <= '9'
	return ok && !inNumber
}

// environmentProblem adds what to do and the exit code.
func environmentProblem(id string, err error) error {
	switch {
	case errors.Is(err, registry.ErrNoEnvironment) && app.IssueNumber().MatchString(id):
		return &problem.Error{Err: err, Hint: "an issue's environments: signalbox env find-by-issue " + strings.TrimPrefix(id, "#"), Code: problem.NotFound}
	case errors.Is(err, registry.ErrNoEnvironment):
		return &problem.Error{Err: err, Hint: "see what there is: signalbox env list", Code: problem.NotFound}
	case errors.Is(err, registry.ErrInvalidEntry):
		return &problem.Error{Err: err, Hint: "see \"signalbox env --help\"", Code: problem.Usage}
	case errors.Is(err, registry.ErrNotApplicable):
		return &problem.Error{Err: err, Hint: "look at it: signalbox env show " + id}
	}
	return wire.Explained(err)
}

// warnOfRun says that the entry is a living run's: the run writes it anew, whatever we wrote.
func warnOfRun(ctx context.Context, a *command.Invocation, s *store.Store, id string) error {
	run, holder, err := livingRun(ctx, s, id)
	if err == nil && run != nil {
		a.Warn("run %s is alive (pid %d) and writes this entry anew at its next transition", run.Ref(), holder.PID)
	}
	return wire.Explained(err)
}

// livingRun is the run that works in the environment at this moment; nil if there is none.
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

// summary is one entry on one line.
func summary(e *registry.Environment) string {
	line := fmt.Sprintf("%s: issue #%d, %s, phase %d %s", e.EnvID, e.IssueNumber, e.Status, e.Phase, e.Step)
	if e.PRNumber != nil {
		line += fmt.Sprintf(", pull request %d", *e.PRNumber)
	}
	if n := len(e.PendingIssues); n > 0 {
		line += ", " + commandline.Count(n, "open finding")
	}
	return redact.Line(line, 500)
}
