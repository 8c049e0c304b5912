package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/problem"
	"signalbox/internal/wire/hosting"
)

// IncludeName is the file that says which ignored files are copied to where agents work.
const IncludeName = ".worktreeinclude"

// includeLimit is larger than any .worktreeinclude, in bytes.
const includeLimit = 1 << 20

// trustVariable is --trust for CI.
const trustVariable = "SIGNALBOX_TRUST"

// TrustStanding says why the settings that reach this machine count, or that they don't.
type TrustStanding string

const (
	// TrustEmpty: nothing in the project's files reaches this machine.
	TrustEmpty TrustStanding = "nothing"
	// TrustGiven: the user said so, for this command alone.
	TrustGiven TrustStanding = "option"
	// TrustAgreed: the user agreed to exactly this.
	TrustAgreed TrustStanding = "agreed"
	// TrustWithheld: the user hasn't agreed to them. Who wrote them doesn't count: a file that a commit brought stays when the commit
	// is undone, and git forgets where it came from.
	TrustWithheld TrustStanding = "withheld"
)

// trust is the list of settings that reach this machine, and whether they count.
type trust struct {
	Standing TrustStanding
	// List is what there is to agree to.
	List []config.Reach
	// Before are the items of the newest agreement, to show what is new.
	Before []string
	// Doubt is why an agreement could not be looked up, or a file not be read.
	Doubt error
	// Broken is what is wrong in the file itself. None of its settings count then, even if a variable replaces the wrong one.
	Broken error
}

// source is one version of the project's files.
type source struct {
	config  config.Config
	include []string
	// page is the repository on the forge: it isn't in the files, but is what agreeing to a forge is about.
	page string
}

// list is what in it reaches this machine. If --agent names a program, the file's agents don't.
func (s source) list(how filesUse) (list []config.Reach) {
	for _, r := range hosting.Named(s.config.Reaches(how.unsandboxed), s.page) {
		top, _, _ := strings.Cut(r.Key, ".")
		if !how.agentTyped || !slices.Contains([]string{"agents", "roles", "workflows"}, top) {
			list = append(list, r)
		}
	}
	for _, pattern := range s.include {
		list = append(list, config.Reach{Key: IncludeName, Value: pattern, Why: "files that git ignores here and this matches are copied to where agents work"})
	}
	return list
}

// parseSource parses the text of the files. The user's variables and options take no part.
func (p *Project) parseSource(settings, include []byte) (source, error) {
	home := func(name string) string {
		if name == "HOME" {
			return p.Env(name)
		}
		return ""
	}
	c, err := config.Parse(config.Name, settings, home)
	var patterns []string
	for line := range strings.Lines(string(include)) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, line)
		}
	}
	return source{config: c, include: patterns}, err
}

// filesUse is how this command uses the files.
type filesUse struct {
	// unsandboxed: the user said to use no sandbox. If the file says so, that's in the file's own list.
	unsandboxed bool
	// agentTyped: the user named a program with --agent, so no agent of the file runs.
	agentTyped bool
}

func (p *Project) usedBy(s source) filesUse {
	_, configured := s.config.Agents[p.Overrides.Agent]
	return filesUse{p.Overrides.Unsandboxed || p.Env("SIGNALBOX_SANDBOX") == config.SandboxNone, p.Overrides.Program || p.Overrides.Agent != "" && !configured}
}

// judgeTrust says whether the settings that reach this machine count.
func (p *Project) judgeTrust(ctx context.Context, settings []byte) (trust, error) {
	given := p.Overrides.Trust
	if value := p.Env(trustVariable); !given && value != "" {
		var err error
		if given, err = strconv.ParseBool(value); err != nil {
			return trust{}, &problem.Error{Err: fmt.Errorf("%s is %q", trustVariable, value), Hint: "want 1, or leave it out", Code: problem.Usage}
		}
	}
	// .worktreeinclude counts only as a regular file, as for the environment's driver.
	var include []byte
	var unread error
	if info, err := os.Lstat(filepath.Join(p.Root, IncludeName)); err == nil && info.Mode().IsRegular() {
		if include, err = readLimited(p.Root, IncludeName, includeLimit); err != nil {
			include, unread = nil, fmt.Errorf("read %s: %w", IncludeName, err)
		}
	}
	s, err := p.parseSource(settings, include)
	if err != nil {
		return trust{Standing: TrustEmpty, Broken: err}, nil
	}
	if s.config.Forge.Hosted() {
		remote, _ := p.remote(ctx) // without one, only the settings can name the repository
		s.page = hosting.Page(s.config.Forge, remote)
	}
	how := p.usedBy(s)
	t := trust{List: s.list(how), Doubt: unread}
	switch {
	case len(t.List) == 0 && unread == nil:
		t.Standing = TrustEmpty
	case given && !p.LooksAtTrust:
		t.Standing = TrustGiven
	default:
		return p.weigh(s, how, t), nil
	}
	return t, nil
}

// weigh looks for the user's agreement.
func (p *Project) weigh(s source, how filesUse, t trust) trust {
	t.Standing = TrustWithheld
	book, err := agreement.Open(p.Root, p.Env)
	if t.Doubt = errors.Join(t.Doubt, err); t.Doubt != nil {
		return t
	}
	agreed, err := agreedTo(book, s, how)
	if agreed {
		t.Standing = TrustAgreed
		return t
	}
	t.Doubt = err
	if list, err := book.List(agreement.Configuration); err == nil && len(list) > 0 {
		t.Before = list[len(list)-1].Items
	}
	return t
}

// agreedTo reports whether the user agreed to a version's settings as this command uses them, or to more of them.
func agreedTo(book agreement.Book, s source, how filesUse) (bool, error) {
	for _, unsandboxed := range []bool{how.unsandboxed, true} {
		for _, agentTyped := range []bool{how.agentTyped, false} {
			list := s.list(filesUse{unsandboxed, agentTyped})
			agreed, err := book.Agreed(agreement.Configuration, agreement.Fingerprint(TrustItems(list)...))
			if agreed || err != nil {
				return agreed, err
			}
		}
	}
	return false, nil
}

// TrustItems are the settings of a list, each as a text that is unique to it.
func TrustItems(list []config.Reach) (items []string) {
	for _, r := range list {
		text, _ := json.Marshal([]string{r.Key, r.Value}) //nolint:errchkjson // two texts
		items = append(items, string(text))
	}
	return items
}
