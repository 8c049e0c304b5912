package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/environment/clone"
	"signalbox/internal/problem"
	"signalbox/internal/redact"
	"signalbox/internal/store"
)

// Untrusted is the error for a command that needs the user's agreement and can't ask for it.
func (p *Project) Untrusted() error {
	text := strings.Builder{}
	text.WriteString("this project's files reach beyond the sandbox, and you have not agreed to it:\n")
	for _, r := range p.Trust.List {
		text.WriteString(p.TrustLine(r))
	}
	more := "" // without the flag, "trust" shows another list, to which the user agreed perhaps
	if p.Overrides.Unsandboxed {
		more = " --unsandboxed"
	}
	hint := "review it and agree once: signalbox trust" + more + "; for one command or in CI: --trust, or " + trustVariable + "=1"
	if p.Trust.Doubt != nil {
		hint += "\nwhy it is asked: " + p.Trust.Doubt.Error()
	}
	return &problem.Error{Err: errors.New(strings.TrimSuffix(text.String(), "\n")), Hint: hint, Code: problem.Untrusted}
}

// TrustLine shows one setting in full, since the part that matters could be at its end.
func (p *Project) TrustLine(r config.Reach) string {
	mark := "  "
	if len(p.Trust.Before) > 0 && !slices.Contains(p.Trust.Before, TrustItems([]config.Reach{r})[0]) {
		mark = "+ "
	}
	return fmt.Sprintf("%s%s: %s\n      %s\n", mark, Visible(r.Key), Visible(r.Value), r.Why)
}

// Visible is a text as one line that hides nothing and has no effect on the terminal.
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
	return clone.New(clone.Config{Repo: p.Repo, Exec: p.Host(), Root: p.Root, State: filepath.Join(p.Root, environmentsFolder), Logger: p.Log}).Included(ctx)
}

// Grant records the user's agreement. If it can't be written, it counts for this command alone.
func (p *Project) Grant(how string) error {
	book, err := agreement.Open(p.Root, p.Env)
	if err == nil {
		items := TrustItems(p.Trust.List)
		err = book.Agree(agreement.Configuration, agreement.Fingerprint(items...), how, items, time.Now())
	}
	if err != nil && how == "asked" {
		p.Warn("your agreement holds for this command alone: %v", err)
		p.Overrides.Trust, err = true, nil
	}
	return err
}

// agreements are those of the user to setup commands, on this machine and for the project. It implements perform.Agreements.
type agreements struct{ *Project }

func (a agreements) SetUpAgreed(content string) (bool, error) {
	book, err := agreement.Open(a.Root, a.Env)
	if err != nil {
		return false, err
	}
	return book.Agreed(agreement.SetUp, content)
}

func (a agreements) AgreeToSetUp(content string, shown []string) error {
	book, err := agreement.Open(a.Root, a.Env)
	if err != nil {
		return err
	}
	return book.Agree(agreement.SetUp, content, "approved", shown, time.Now())
}

// foreignState refuses a repository that brings files which only Signalbox may write, since Signalbox trusts them: that the base's
// tests passed, that an environment is verified, where an agent's socket is. A link there would also lead out of the project.
func (p *Project) foreignState(ctx context.Context) error {
	there := slices.ContainsFunc(store.PrivateFolders, func(name string) bool {
		info, err := os.Lstat(filepath.Join(p.Root, store.PrivateDir, name))
		return err == nil && (name != "locks" || !info.IsDir())
	})
	if !there { // saves asking git
		return nil
	}
	tracked, err := p.Repo.Tracked(ctx, store.PrivateDir)
	if err != nil {
		return err
	}
	for _, name := range tracked {
		_, below, ok := strings.Cut(name, "/")
		folder, _, _ := strings.Cut(below, "/")
		if ok && !slices.Contains(store.PrivateFolders, folder) {
			continue
		}
		return &problem.Error{Err: fmt.Errorf("the repository brings %s, which only Signalbox may write, so it can't be trusted", redact.Line(name, 200)), Code: problem.Untrusted,
			Hint: "who committed it, and why: git log -- " + filepath.Join(store.PrivateDir, folder) + "; take it out: git rm -r " + filepath.Join(store.PrivateDir, folder) + ", and commit that"}
	}
	return nil
}
