package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/environment/clone"
	"signalbox/internal/redact"
)

// trustFlag is the flag of every command that obeys the configuration.
func (a *app) trustFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.flags.trust, "trust", false, "agree for this command to what the project's files do to this machine (signalbox trust --show); for CI")
}

// openTrusted opens the project for a command that obeys its configuration.
func (a *app) openTrusted(ctx context.Context) (*project, error) {
	p, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	return p.trusted(ctx)
}

// trusted is the project with its whole configuration. Where that needs the user's agreement, a terminal asks; the
// project is then opened anew, with what the files say at that moment.
func (p *project) trusted(ctx context.Context) (*project, error) {
	if p.trust.standing != standsWithheld || p.withoutAgents {
		p.obeys = true
		return p, nil
	}
	err := p.askTrust(ctx)
	if err = errors.Join(err, p.store.Close()); err != nil {
		return nil, err
	}
	again, err := p.open(ctx)
	if err == nil && again.trust.standing == standsWithheld {
		err = errors.Join(again.untrusted(), again.store.Close())
	}
	p.obeys = err == nil
	return again, err
}

// untrusted is what a script is told.
func (p *project) untrusted() error {
	text := strings.Builder{}
	text.WriteString("this project's files reach beyond the sandbox, and you have not agreed to it:\n")
	for _, r := range p.trust.list {
		text.WriteString(p.trustLine(r))
	}
	hint := "look at it and agree once: signalbox trust; for one command or in CI: --trust, or " + trustVariable + "=1"
	if p.trust.doubt != nil {
		hint += "\nwhy it is asked: " + p.trust.doubt.Error()
	}
	return &problem{err: errors.New(strings.TrimSuffix(text.String(), "\n")), hint: hint, code: exitUntrusted}
}

// trustLine shows one setting whole: what is cut off could be what matters.
func (p *project) trustLine(r config.Reach) string {
	mark := "  "
	if len(p.trust.before) > 0 && !slices.Contains(p.trust.before, trustItems([]config.Reach{r})[0]) {
		mark = "+ "
	}
	return fmt.Sprintf("%s%s: %s\n      %s\n", mark, visible(r.Key), visible(r.Value), r.Why)
}

// visible is a text as one line on which nothing is hidden and nothing acts on the terminal.
func visible(text string) string {
	if redact.Line(text, len(text)) == text {
		return text
	}
	return strconv.QuoteToASCII(text)
}

// showTrust prints the list, and by name what .worktreeinclude would copy.
func (p *project) showTrust(ctx context.Context, w io.Writer) {
	for _, r := range p.trust.list {
		_, _ = fmt.Fprint(w, p.trustLine(r))
	}
	if len(p.trust.before) > 0 && p.trust.standing == standsWithheld {
		_, _ = fmt.Fprintln(w, "(+ is new since you last agreed)")
	}
	files, err := p.includedFiles(ctx)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(w, "%s matches files that cannot be listed: %s\n", includeName, redact.Line(err.Error(), sayAtMost))
	case len(files) > 0:
		_, _ = fmt.Fprintf(w, "%s matches now:\n", includeName)
	}
	for _, name := range files {
		_, _ = fmt.Fprintf(w, "  %s\n", visible(name))
	}
}

// includedFiles are the files that .worktreeinclude matches at this moment.
func (p *project) includedFiles(ctx context.Context) ([]string, error) {
	if !slices.ContainsFunc(p.trust.list, func(r config.Reach) bool { return r.Key == includeName }) {
		return nil, nil
	}
	return clone.New(clone.Config{Repo: p.repo, Exec: p.host(), Root: p.root, State: p.environmentsFolder(), Logger: p.log}).Included(ctx)
}

// askTrust asks at a terminal, and elsewhere says what is missing.
func (p *project) askTrust(ctx context.Context) error {
	if !p.canAsk() {
		return p.untrusted()
	}
	_, _ = fmt.Fprintln(p.Err, "This project's files reach beyond the sandbox. They came with a commit, so someone else may have written them:")
	p.showTrust(ctx, p.Err)
	if p.trust.doubt != nil {
		p.app.warn("%v", p.trust.doubt)
	}
	_, _ = fmt.Fprint(p.Err, "Agree to exactly this, for this project on this machine? [y/N] ")
	answer, err := readLine(ctx, bufio.NewReader(io.LimitReader(p.In, 1<<10)))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &problem{err: errors.New("you did not agree, so nothing was done"), hint: "see the list again: signalbox trust --show", code: exitUntrusted}
	}
	return p.grant("asked")
}

// canAsk: someone at a terminal can answer.
func (p *project) canAsk() bool {
	file, ok := p.In.(*os.File)
	return p.Terminal && !p.json && (!ok || term.IsTerminal(int(file.Fd())))
}

// grant records the user's agreement. Where there is no place for it, it holds for this command.
func (p *project) grant(how string) error {
	book, err := agreement.Open(p.root, p.Env)
	if err == nil {
		err = p.agree(book, p.trust.list, how)
	}
	if err != nil && how == "asked" {
		p.app.warn("your agreement holds for this command alone: %v", err)
		p.flags.trust, err = true, nil
	}
	return err
}
