package hosting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"signalbox/internal/config"
	"signalbox/internal/forge"
	"signalbox/internal/forge/budget"
	"signalbox/internal/forge/hosted"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// Standing is what the server says of us and of the repository.
type Standing struct {
	// Page is the repository's address; Account is who we are there.
	Page    string
	Account string
	// Source is where branches are pushed to, and Others: only others may merge. Note is what else is to know of the repository; it may be empty.
	Source string
	Others bool
	Note   string
	// Way is how merges into the base are made, and Why.
	Way, Why string
	// Lacks are what the driver can't do.
	Lacks []string
	// Budget is what is left of the server's limits; empty if it told none.
	Budget string
	// Missing are the rights that the account lacks, each with what to type.
	Missing []error
}

// Examine asks the server, by calls that change nothing, for what runs into base need. commit is one that the server has; empty asks for no verdicts.
func (f *Forge) Examine(ctx context.Context, base, commit string) (Standing, error) {
	b, err := f.open(ctx)
	if err != nil {
		return Standing{}, err
	}
	s := Standing{Page: b.address.page(), Lacks: lacking(b.server)}
	account, err := b.server.Whoami(ctx)
	if err != nil {
		return s, b.explained(err, readIssues)
	}
	s.Account = redact.Line(account.Name, maxShown)
	if b.credentials.Variable == jobToken {
		s.Missing = append(s.Missing, fmt.Errorf("%s reaches jobs and pipelines, but neither issues nor merge requests: name a project access token's variable in forge.token", jobToken))
	}
	repository, err := b.server.Repository(ctx)
	if err != nil {
		return s, b.explained(err, writeContents)
	}
	if err := b.source(ctx, &s, repository, f.config.Settings.Fork); err != nil {
		s.Missing = append(s.Missing, err)
	}
	required, err := b.server.Required(ctx, base)
	switch {
	case errors.Is(err, forge.ErrNotFound):
		s.Missing = append(s.Missing, fmt.Errorf("the forge lacks the branch %q, so push it", base))
	case err != nil:
		return s, b.explained(err, readVerdicts)
	case s.Others:
		s.Way, s.Why = "others", "the account may not merge, so a run waits until someone does"
	default:
		s.Way, s.Why = wayOf(b.forge.Config.Merge, repository, required)
	}
	if s.Way == config.MergeGuarded && repository.MayPush && !repository.MayMerge {
		s.Missing = append(s.Missing, fmt.Errorf("%s may not merge pull requests of %s", s.Account, s.Page))
	}
	if _, err := b.server.Issues(ctx, forge.Query{}, 1); err != nil {
		s.Missing = append(s.Missing, b.explained(err, readIssues))
	}
	if commit != "" {
		if _, err := b.server.Verdicts(ctx, commit); err != nil {
			s.Missing = append(s.Missing, b.explained(err, readVerdicts))
		}
	}
	s.Budget = left(b.calls.Use())
	return s, nil
}

// source says where branches are pushed to, and what is missing for that.
func (b *built) source(ctx context.Context, s *Standing, r forge.Repository, wanted string) error {
	fork, isMade, err := b.forge.Source(ctx, r)
	switch {
	case errors.Is(err, forge.ErrRemote):
		return &problem.Error{Err: fmt.Errorf("%w (the right that it needs: %s)", err, writeContents.on(b.server.Kind())), Hint: "give the account that right, or make a fork: docs/forges.md"}
	case err != nil:
		return b.explained(err, writePulls)
	case !isMade:
		s.Source = "a fork, which the first pull request makes"
	case fork != "":
		s.Source = redact.Line(fork, maxShown)
	case !r.MayPush:
		return fmt.Errorf("%s may not push branches to %s (forge.fork: %s): the right that it needs: %s", s.Account, s.Page, wanted, writeContents.on(b.server.Kind()))
	default:
		s.Source = redact.Line(r.Path, maxShown)
		if r.Parent != "" {
			s.Note = fmt.Sprintf("it is a fork of %s; to work on issues of that, let the remote origin be that repository: git remote rename origin fork; git remote add origin ADDRESS",
				redact.Line(r.Parent, maxShown))
		}
		return nil
	}
	s.Others = !r.MayMerge
	if !isMade {
		return nil
	}
	_, err = b.forkAddress(ctx, fork)
	return err
}

// wayOf is the way that a run would take, and why. An empty way means that nothing can be merged.
func wayOf(wanted hosted.Way, r forge.Repository, asked forge.Requirements) (way, why string) {
	chosen, why, err := hosted.Choose(wanted, r, asked)
	if err != nil {
		return "", err.Error()
	}
	return string(chosen), why
}

// lacking names the capabilities that a driver has not.
func lacking(server forge.Server) (names []string) {
	for _, capability := range []struct {
		name string
		has  func() bool
	}{
		{"logs of failed checks", func() bool { _, has := server.(forge.Logged); return has }},
		{"running failed jobs again", func() bool { _, has := server.(forge.CI); return has }},
		{"publishing verdicts", func() bool { _, has := server.(forge.Publisher); return has }},
		{"labels", func() bool { _, has := server.(forge.Labeler); return has }},
		{"reviews", func() bool { _, has := server.(forge.Reviewed); return has }},
		{"review threads", func() bool { _, has := server.(forge.Threaded); return has }},
		{"resolving threads", func() bool { _, has := server.(forge.Answering); return has }},
		{"merge queue", func() bool { _, has := server.(forge.Queue); return has }},
		{"hiding comments", func() bool { _, has := server.(forge.Minimizer); return has }},
		{"reactions", func() bool { _, has := server.(forge.Acknowledger); return has }},
		{"rights of accounts", func() bool { _, has := server.(forge.Permitted); return has }},
		{"asking for reviews", func() bool { _, has := server.(forge.Reviewable); return has }},
		{"forks", func() bool { _, has := server.(forge.Forked); return has }},
		{"webhooks", func() bool { _, has := server.(forge.Hooked); return has }},
	} {
		if !capability.has() {
			names = append(names, capability.name)
		}
	}
	return names
}

// left says what remains of the server's tightest limit.
func left(uses []budget.Use) string {
	text, least := "", -1
	for _, use := range uses {
		for name, l := range use.Limits {
			if least < 0 || l.Remaining < least {
				least = l.Remaining
				text = fmt.Sprintf("%d of %d calls left (%s) until %s", l.Remaining, l.Limit, redact.Line(name, maxShown), l.Reset.Local().Format(time.TimeOnly))
			}
		}
	}
	return text
}
