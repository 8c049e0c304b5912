package perform

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"signalbox/internal/environment"
	"signalbox/internal/place"
	"signalbox/internal/redact"
	"signalbox/internal/workflow"
)

// forBase brings the environment to the base commit before its tests run there. If a session worked in it, its work is saved.
// Everything else was left by tests that were cut off.
func (x *execution) forBase(ctx context.Context, a workflow.Action) (environment.Environment, error) {
	visited, err := x.visited(ctx)
	if err != nil || visited {
		if err != nil {
			return nil, err
		}
		return x.ready(ctx, a)
	}
	env, err := x.environment(ctx)
	if err != nil {
		return nil, err
	}
	return env, x.clearTests(ctx, env)
}

// clearTests removes what the tests of the base left, except files that git ignores.
func (x *execution) clearTests(ctx context.Context, env environment.Environment) error {
	head := x.run.Details.Head
	if x.presence.Content == head {
		return nil
	}
	if err := env.Reset(ctx, head, ""); err != nil {
		return err
	}
	x.presence.Content, x.presence.Entered = head, true
	return nil
}

// emptied is an environment that can tell that it has nothing to cache.
type emptied interface {
	Empty(ctx context.Context) (bool, error)
}

// Baseline is what tests came to on commits of the project, for later runs that begin there.
type Baseline struct {
	Tested []baseTested `json:"tested"`
}

type baseTested struct {
	Tests []string           `json:"tests"`
	Check workflow.BaseCheck `json:"check"`
}

// mostRemembered is how many results a Baseline remembers.
const mostRemembered = 50

// remember saves the test results on the base, for later runs with the same setup.
func (x *execution) remember(ctx context.Context, e workflow.TestsEnded) error {
	b := x.run.Details.BaseCheck(e)
	if s := x.run.Details.SetUp; !b.Tells(&x.run.Details.Settings) || s != nil && (s.Repaired || s.Status == workflow.SetUpFailed) {
		return nil
	}
	tests := x.run.Details.Settings.AllTestNames()
	return x.Baseline.Update(ctx, func(r *Baseline) error {
		r.Tested = slices.DeleteFunc(r.Tested, func(t baseTested) bool { return t.is(&b, tests) })
		r.Tested = append(r.Tested, baseTested{tests, b})
		r.Tested = r.Tested[max(0, len(r.Tested)-mostRemembered):]
		return nil
	})
}

func (t *baseTested) is(b *workflow.BaseCheck, tests []string) bool {
	return t.Check.Commit == b.Commit && t.Check.Fingerprint == b.Fingerprint && slices.Equal(t.Tests, tests)
}

// remembered returns an earlier run's test results on the run's base in an environment with that fingerprint; nil if there are none.
func (x *execution) remembered(ctx context.Context, fingerprint string) (*workflow.BaseCheck, error) {
	record, err := x.Baseline.Load(ctx)
	if err != nil {
		x.logged("read earlier test results", err)
		return nil, nil //nolint:nilnil // the tests run again
	}
	wanted := workflow.BaseCheck{Commit: x.run.Details.BaseCommit, Fingerprint: fingerprint}
	for _, t := range record.Tested {
		if t.is(&wanted, x.run.Details.Settings.AllTestNames()) {
			return &t.Check, x.askedFor(ctx, t.Check.Failures)
		}
	}
	return nil, nil //nolint:nilnil // there are no results
}

// askedFor marks the failing tests that the request is about: those that its text names, and all of a command that the request
// brings.
func (x *execution) askedFor(ctx context.Context, failures []workflow.TestFailure) error {
	if len(failures) == 0 {
		return nil
	}
	request, err := x.theRequest(ctx)
	if err != nil {
		return err
	}
	text := request.Title + "\n" + request.Body
	for i := range failures {
		failures[i].Asked, failures[i].OfRequest = nil, slices.Contains(request.Tests, failures[i].Command)
		for _, name := range failures[i].Tests {
			if names(text, name) || failures[i].OfRequest {
				failures[i].Asked = append(failures[i].Asked, name)
			}
		}
	}
	return nil
}

// shortestName is the shortest last part of a test's name that counts by itself: shorter ones are words of any text.
const shortestName = 5

// names reports whether a text has a test's whole name, or the last part of it as a word.
func names(text, test string) bool {
	if strings.Contains(text, test) {
		return true
	}
	parts := strings.FieldsFunc(test, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return len(last) >= shortestName && regexp.MustCompile(`\b`+regexp.QuoteMeta(last)+`\b`).MatchString(text)
}

// documented redacts, cleans and shortens failures for the document.
func documented(r *redact.Redactor, failures []workflow.TestFailure) []workflow.TestFailure {
	for i := range failures {
		f := &failures[i]
		f.Summary = shorten(redact.Clean(r.String(f.Summary)), messageLimit)
		for j, name := range f.Tests {
			f.Tests[j] = redact.Line(r.String(name), 300)
		}
	}
	return failures
}

// Admit implements engine.Performer. A run that starts again from its base branch gets that branch's commit and the present
// settings.
func (p *Performer) Admit(ctx context.Context, run workflow.Run, a *workflow.Admitted) error {
	a.Isolation, a.Budget = p.Isolation, p.Places.PerRun
	x := p.of(run)
	if j := &x.run.Details; !j.FromBase {
		if j.Phase != workflow.ApprovalWait || x.Settings == nil {
			return nil
		}
		if request, err := x.theRequest(ctx); err == nil {
			if settings, err := x.Settings(request); err == nil {
				a.Settings = &settings
			}
		}
		return nil
	}
	base, err := place.Base(ctx, x.Repo, x.run.Details.Base)
	if err != nil {
		x.logged("find the base branch", err) // CreateBranch reports it if it matters
		return nil
	}
	a.Base = base
	if x.Settings == nil {
		return nil
	}
	request, err := x.theRequest(ctx)
	if err != nil {
		return err
	}
	settings, err := x.Settings(request)
	if err != nil {
		return err
	}
	a.Settings = &settings
	return nil
}
