package perform

import (
	"cmp"
	"errors"
	"time"

	"signalbox/internal/forge"
	"signalbox/internal/workflow"
)

// Access says what a forge's server is shown, for a person who has to renew it.
type Access struct {
	// Variable holds the token; Program logs in, if a program has it. Both are empty for an App.
	Variable string
	Program  []string
}

// Renew is what to do if the server refuses it.
func (a Access) Renew() workflow.NextStep {
	switch {
	case len(a.Program) > 0:
		return workflow.NextStep{Text: "log in to the forge again", Program: a.Program}
	case a.Variable != "":
		return workflow.Advice("renew the forge's token, and start Signalbox with it in " + a.Variable)
	}
	return workflow.Advice("renew the key of the forge's App, or install the App in the repository: forge.app in .signalbox/config.yaml")
}

// refusals are the codes and titles of what a server refused.
var refusals = map[forge.FailureKind]struct{ code, title string }{
	forge.Unauthorized: {workflow.ForgeUnauthorizedCode, "the forge refuses the token"},
	forge.Forbidden:    {workflow.ForgeForbiddenCode, "the account may not do this on the forge"},
	forge.Limited:      {workflow.ForgeLimitedCode, "the forge has had too many calls"},
	forge.Unavailable:  {workflow.ForgeUnavailableCode, "the forge does not answer"},
	forge.Refused:      {workflow.ForgeRefusedCode, "the forge refuses this"},
}

// refused describes what a forge's server refused. Only what passes by itself is repeated.
func (x *execution) refused(e *workflow.Error, f *forge.Failure) {
	known := refusals[f.Kind]
	e.ReasonCode, e.Title = cmp.Or(known.code, workflow.ForgeRefusedCode), cmp.Or(known.title, "the forge refuses this")
	e.Retryable, e.Category = f.Kind == forge.Limited || f.Kind == forge.Unavailable, workflow.CategoryEnvironment
	switch f.Kind {
	case forge.Unauthorized:
		e.Next = []workflow.NextStep{x.access().Renew()}
	case forge.Forbidden:
		e.Next = []workflow.NextStep{workflow.Advice("give the account, or its token, the right that the message names")}
	case forge.Limited:
		e.Next = []workflow.NextStep{workflow.Advice("wait until the forge's limit is reset")}
	case forge.Refused:
		if f.Moved != "" {
			e.Next = []workflow.NextStep{{Text: "if the repository was renamed or moved", Program: []string{"git", "remote", "set-url", "origin", f.Moved + ".git"}}}
			break
		}
		e.Next = []workflow.NextStep{workflow.Advice("settle on the forge what the message names")}
	default:
		e.Next = []workflow.NextStep{{Text: "see whether the forge is reached", Verb: workflow.VerbDoctor}}
	}
	e.Next = append(e.Next, x.run.ThenResume())
}

func (p *Performer) access() Access {
	if p.Access == nil {
		return Access{}
	}
	return p.Access()
}

// retryAfter is how long a server asked to wait; 0 if it didn't.
func retryAfter(err error) time.Duration {
	if f := (*forge.Failure)(nil); errors.As(err, &f) {
		return f.RetryAfter
	}
	return 0
}
