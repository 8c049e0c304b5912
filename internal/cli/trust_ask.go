package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/wire"
)

// trustFlag is the flag of every command that obeys the configuration.
func (a *invocation) trustFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.Overrides.Trust, "trust", false, "agree for this command to what the project's files do to this machine (signalbox trust --show); for CI")
}

// openTrusted opens the project for a command that obeys its configuration.
func (a *invocation) openTrusted(ctx context.Context) (*project, error) {
	p, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	return p.trusted(ctx)
}

// trusted is the project with its whole configuration. Where that needs the user's agreement, a terminal asks; the
// project is then opened anew, with what the files say at that moment.
func (p *project) trusted(ctx context.Context) (*project, error) {
	if p.Trust.Standing != wire.StandsWithheld || p.WithoutAgents {
		p.Obeys = true
		return p, nil
	}
	err := p.askTrust(ctx)
	if err = errors.Join(err, p.Store.Close()); err != nil {
		return nil, err
	}
	again, err := p.open(ctx)
	if err == nil && again.Trust.Standing == wire.StandsWithheld {
		err = errors.Join(again.Untrusted(), again.Store.Close())
	}
	p.Obeys = err == nil
	return again, err
}

// showTrust prints the list, and by name what .worktreeinclude would copy.
func (p *project) showTrust(ctx context.Context, w io.Writer) {
	for _, r := range p.Trust.List {
		_, _ = fmt.Fprint(w, p.TrustLine(r))
	}
	if len(p.Trust.Before) > 0 && p.Trust.Standing == wire.StandsWithheld {
		_, _ = fmt.Fprintln(w, "(+ is new since you last agreed)")
	}
	files, err := p.IncludedFiles(ctx)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(w, "%s matches files that cannot be listed: %s\n", wire.IncludeName, redact.Line(err.Error(), sayAtMost))
	case len(files) > 0:
		_, _ = fmt.Fprintf(w, "%s matches now:\n", wire.IncludeName)
	}
	for _, name := range files {
		_, _ = fmt.Fprintf(w, "  %s\n", wire.Visible(name))
	}
}

// askTrust asks at a terminal, and elsewhere says what is missing.
func (p *project) askTrust(ctx context.Context) error {
	if !p.canAsk() {
		return p.Untrusted()
	}
	_, _ = fmt.Fprintln(p.Err, "This project's files reach beyond the sandbox. They came with a commit, so someone else may have written them:")
	p.showTrust(ctx, p.Err)
	if p.Trust.Doubt != nil {
		p.Warn("%v", p.Trust.Doubt)
	}
	_, _ = fmt.Fprint(p.Err, "Agree to exactly this, for this project on this machine? [y/N] ")
	answer, err := readLine(ctx, bufio.NewReader(io.LimitReader(p.In, 1<<10)))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &problem.Error{Err: errors.New("you did not agree, so nothing was done"), Hint: "see the list again: signalbox trust --show", Code: problem.Untrusted}
	}
	return p.Grant("asked")
}

// canAsk: someone at a terminal can answer.
func (p *project) canAsk() bool {
	file, ok := p.In.(*os.File)
	return p.Terminal && !p.json && (!ok || term.IsTerminal(int(file.Fd())))
}
