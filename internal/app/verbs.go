package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"signalbox/internal/commandline"
	"signalbox/internal/forge"
	"signalbox/internal/problem"
	"signalbox/internal/wire"
	"signalbox/internal/workflow"
)

// mayDecide says why no one can decide on a run's change now, nil if someone can.
func mayDecide(r *workflow.Run) error {
	if !WaitsForApproval(r) {
		return Wrong(r, "it does not wait for approval", "signalbox status "+r.Ref())
	}
	return nil
}

// Approve approves the change of a waiting run. A commit, if given, must be the one that the run shows, with at least 7 digits.
func Approve(commit string) Order {
	return Order{may: func(r *workflow.Run) error {
		if err := mayDecide(r); err != nil {
			return err
		}
		if a := r.Awaits(); a.People() && a.Required {
			return Wrong(r, "it waits for "+a.What()+" on the forge, which an approval here does not replace", a.Do()+": "+r.Details.PullRequest.URL)
		}
		if commit != "" && (len(commit) < 7 || len(commit) > len(r.Details.Head) || r.Details.Head[:len(commit)] != commit) {
			return Wrong(r, fmt.Sprintf("the change is %.10s, not %s", r.Details.Head, commit), "look at it again: signalbox diff "+r.Ref())
		}
		return nil
	}, leave: func(r *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandApprove, r.Details.Head, ""))
	}}
}

// Reject sends the change of a waiting run back to its agent, and says what to change.
func Reject(why string) Order {
	return Order{may: mayDecide, leave: func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandReject, "", why))
	}, renews: true}
}

// Resume resumes a run that stopped; with force, despite what stopped it.
func Resume(force bool) Order {
	return Order{may: func(r *workflow.Run) error {
		switch r.State {
		case workflow.Failed:
			return Wrong(r, "it failed", commandline.For(r, workflow.VerbRetry))
		case workflow.Canceled:
			return Wrong(r, "it is over", commandline.For(r, workflow.VerbRun))
		}
		if force && !r.CanBeForced() {
			return Wrong(r, "there is nothing to force: neither work that is too large to keep nor tests that can't run stopped it", commandline.For(r, workflow.VerbResume))
		}
		return nil // resuming a finished run completes what a crash may have left undone
	}, leave: func(_ *workflow.Run, s *workflow.Signals) {
		s.ResumeRequested = true
		if force {
			s.Commands = append(s.Commands, Personal(workflow.CommandForce, "", ""))
		}
	}, renews: true}
}

// Retry repeats the step at which a run failed.
func Retry() Order {
	return Order{may: func(r *workflow.Run) error {
		if r.State != workflow.Failed {
			return Wrong(r, "only a failed run is retried", "signalbox status "+r.Ref())
		}
		return nil
	}, leave: func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandRetry, "", ""))
	}, renews: true}
}

// Stop stops a run; with cancel, for good.
func Stop(cancel bool) Order {
	return Order{may: func(r *workflow.Run) error {
		if r.State.Final() && (!cancel || r.State != workflow.Canceled) { // canceling again completes what a crash may have left undone
			return Wrong(r, "it is over", "signalbox status "+r.Ref())
		}
		return nil
	}, leave: func(_ *workflow.Run, s *workflow.Signals) {
		if cancel {
			s.Commands = append(s.Commands, Personal(workflow.CommandCancel, "", ""))
			return
		}
		s.StopRequested = true
	}}
}

// Sync merges the base branch, as it is now, into the change of a run that isn't under way.
func Sync() Order {
	return Order{may: func(r *workflow.Run) error {
		switch {
		case r.State.Final():
			return Wrong(r, "it is over", "signalbox status "+r.Ref())
		case r.UnderWay():
			return Wrong(r, "it is under way", "stop it first: signalbox stop "+r.Ref())
		case !r.MaySync():
			return Wrong(r, "it has no finished change yet, and will start from the current base", "signalbox status "+r.Ref())
		}
		return nil
	}, leave: func(_ *workflow.Run, s *workflow.Signals) {
		s.Commands = append(s.Commands, Personal(workflow.CommandSync, "", ""))
	}, renews: true}
}

// Note replaces the note on a run; an empty one removes it.
func (p *App) Note(ctx context.Context, ref, text string) error {
	found, err := p.Find(ctx, ref)
	if err != nil {
		return err
	}
	return wire.Explained(p.Signal(ctx, found, func(_ *workflow.Run, s *workflow.Signals) {
		s.Notes = nil
		if text != "" {
			s.Notes = &text
		}
	}))
}

// NewRequest opens a request with a new id and number. Without a title, the description's first line becomes the title.
func (p *App) NewRequest(ctx context.Context, title, description string) (forge.Request, error) {
	return p.NewRequestOnce(ctx, rand.Text(), title, description)
}

// NewRequestOnce is NewRequest for a form that may be sent twice: the same key opens one request.
func (p *App) NewRequestOnce(ctx context.Context, key, title, description string) (forge.Request, error) {
	if title == "" {
		first, rest, _ := strings.Cut(strings.TrimSpace(description), "\n")
		title, description = strings.TrimSpace(strings.TrimLeft(first, "# ")), strings.TrimSpace(rest)
	}
	if strings.TrimSpace(title) == "" {
		return forge.Request{}, &problem.Error{Err: errors.New("a request needs a title"), Hint: `signalbox new "what should be different"`, Code: problem.Usage}
	}
	files := p.Forge
	if p.Hosted != nil { // an issue is opened on the forge's own page
		files = p.Hosted.Files()
	}
	request, err := files.OpenRequest(ctx, "new/"+key, title, description)
	return request, wire.Explained(err)
}
