package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/environment/clone"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
)

// Untrusted is what a script is told.
func (p *Project) Untrusted() error {
	text := strings.Builder{}
	text.WriteString("this project's files reach beyond the sandbox, and you have not agreed to it:\n")
	for _, r := range p.Trust.List {
		text.WriteString(p.TrustLine(r))
	}
	hint := "look at it and agree once: signalbox trust; for one command or in CI: --trust, or " + trustVariable + "=1"
	if p.Trust.Doubt != nil {
		hint += "\nwhy it is asked: " + p.Trust.Doubt.Error()
	}
	return &problem.Error{Err: errors.New(strings.TrimSuffix(text.String(), "\n")), Hint: hint, Code: problem.Untrusted}
}

// TrustLine shows one setting whole: what is cut off could be what matters.
func (p *Project) TrustLine(r config.Reach) string {
	mark := "  "
	if len(p.Trust.Before) > 0 && !slices.Contains(p.Trust.Before, TrustItems([]config.Reach{r})[0]) {
		mark = "+ "
	}
	return fmt.Sprintf("%s%s: %s\n      %s\n", mark, Visible(r.Key), Visible(r.Value), r.Why)
}

// Visible is a text as one line on which nothing is hidden and nothing acts on the terminal.
func Visible(text string) string {
	if redact.Line(text, len(text)) == text {
		return text
	}
	return strconv.QuoteToASCII(text)
}

// IncludedFiles are the files that .worktreeinclude matches at this moment.
func (p *Project) IncludedFiles(ctx context.Context) ([]string, error) {
	if !slices.ContainsFunc(p.Trust.List, func(r config.Reach) bool { return r.Key == IncludeName }) {
		return nil, nil
	}
	return clone.New(clone.Config{Repo: p.Repo, Exec: p.Host(), Root: p.Root, State: p.environmentsFolder(), Logger: p.Log}).Included(ctx)
}

// Grant records the user's agreement. Where there is no place for it, it holds for this command.
func (p *Project) Grant(how string) error {
	book, err := agreement.Open(p.Root, p.Env)
	if err == nil {
		err = p.agree(book, p.Trust.List, how)
	}
	if err != nil && how == "asked" {
		p.Warn("your agreement holds for this command alone: %v", err)
		p.Overrides.Trust, err = true, nil
	}
	return err
}

// agreements is what the user agreed to on this machine for the project. It implements perform.Agreements.
type agreements struct{ *Project }

func (a agreements) book() (agreement.Book, error) { return agreement.Open(a.Root, a.Env) }

func (a agreements) SetUpAgreed(content string) (bool, error) {
	book, err := a.book()
	if err != nil {
		return false, err
	}
	return book.Agreed(agreement.SetUp, content)
}

func (a agreements) AgreeToSetUp(content string, shown []string) error {
	book, err := a.book()
	if err != nil {
		return err
	}
	return book.Agree(agreement.SetUp, content, "approved", shown, time.Now())
}
