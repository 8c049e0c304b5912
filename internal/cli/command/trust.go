package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// AddTrustFlag adds the flag of every command that obeys the configuration.
func (a *Invocation) AddTrustFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.Opener.Overrides.Trust, "trust", false, "agree for this command to what the project's files do to this machine (signalbox trust --show); for CI")
}

// ShowTrust prints the list, and by name what .worktreeinclude would copy.
func ShowTrust(ctx context.Context, p *wire.Project, w io.Writer) {
	for _, r := range p.Trust.List {
		_, _ = fmt.Fprint(w, p.TrustLine(r))
	}
	if len(p.Trust.Before) > 0 && p.Trust.Standing == wire.TrustWithheld {
		_, _ = fmt.Fprintln(w, "(+ is new since you last agreed)")
	}
	files, err := p.IncludedFiles(ctx)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(w, "%s matches files that cannot be listed: %s\n", wire.IncludeName, redact.Line(err.Error(), SayAtMost))
	case len(files) > 0:
		_, _ = fmt.Fprintf(w, "%s matches now:\n", wire.IncludeName)
	}
	for _, name := range files {
		_, _ = fmt.Fprintf(w, "  %s\n", wire.Visible(name))
	}
}

// AsksTrust reports whether AskTrust would reach a person.
func (a *Invocation) AsksTrust() bool { return a.Terminal && !a.JSON && a.CanAsk() }

// AskTrust asks at a terminal; elsewhere it returns the error that says what's missing.
func (a *Invocation) AskTrust(ctx context.Context, p *wire.Project) error {
	if !a.AsksTrust() {
		return p.Untrusted()
	}
	_, _ = fmt.Fprintln(a.Err, "This project's files reach beyond the sandbox. Unless you wrote them yourself, read this first:")
	ShowTrust(ctx, p, a.Err)
	if p.Trust.Doubt != nil {
		p.Warn("%v", p.Trust.Doubt)
	}
	switch agreed, err := a.Confirm(ctx, "Agree to exactly this, for this project on this machine?"); {
	case err != nil:
		return err
	case !agreed:
		return &problem.Error{Err: errors.New("you did not agree, so nothing was done"), Hint: "see the list again: signalbox trust --show", Code: problem.Untrusted}
	}
	return p.Grant("asked")
}
