package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"signalbox/internal/agreement"
	"signalbox/internal/config"
	"signalbox/internal/problem"
)

// IncludeName is the file that says which ignored files are copied to where agents work.
const IncludeName = ".worktreeinclude"

// trustVariable is --trust for CI.
const trustVariable = "SIGNALBOX_TRUST"

// TrustStanding is why what reaches this machine counts, or that it does not.
type TrustStanding string

const (
	// TrustEmpty: nothing in the project's files reaches this machine.
	TrustEmpty TrustStanding = "nothing"
	// TrustGiven: whoever typed the command said so, for this command alone.
	TrustGiven TrustStanding = "option"
	// TrustAgreed: the user agreed to exactly this.
	TrustAgreed TrustStanding = "agreed"
	// TrustOwn: no commit brought it, so the user wrote it.
	TrustOwn TrustStanding = "own"
	// TrustWithheld: it came with a commit, or may have, and the user has not agreed to it.
	TrustWithheld TrustStanding = "withheld"
)

// trust is what of a project's files reaches this machine, and whether that counts.
type trust struct {
	Standing TrustStanding
	// List is what there is to agree to.
	List []config.Reach
	// Before are the items of the newest agreement, to show what is new.
	Before []string
	// Doubt is why a file that may be the user's own does not count as that.
	Doubt error
}

// source is what one version of the project's files says.
type source struct {
	config  config.Config
	include []string
}

// list is what of it reaches this machine. Where a program was named by --agent, no agent of the file does.
func (s source) list(how filesUse) (list []config.Reach) {
	for _, r := range s.config.Reaches(how.unsandboxed) {
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

// parseSource reads a version by what its files hold. Variables and options are the user's own word, and take no part.
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
	return source{c, patterns}, err
}

// included is the text of the project's .worktreeinclude, which counts only as a regular file.
func (p *Project) included() ([]byte, error) {
	path := filepath.Join(p.Root, IncludeName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // it is not there, or the environment's driver passes it over too
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", IncludeName, err)
	}
	defer func() { _ = file.Close() }()
	const most = 1 << 20 // bytes
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", IncludeName, err)
	}
	return text, nil
}

// filesUse is how this command uses the files.
type filesUse struct {
	// unsandboxed: the user said that there is no sandbox. What the file says of it is in the file's own list.
	unsandboxed bool
	// agentTyped: --agent names a program, which is the word of who typed it, and no agent of the file is asked.
	agentTyped bool
}

func (p *Project) usedBy(s source) filesUse {
	_, configured := s.config.Agents[p.Overrides.Agent]
	return filesUse{p.Overrides.Unsandboxed || p.Env("SIGNALBOX_SANDBOX") == config.SandboxNone, p.Overrides.Program || p.Overrides.Agent != "" && !configured}
}

// judgeTrust says whether what a version of the files does to this machine counts.
func (p *Project) judgeTrust(ctx context.Context, settings []byte) (trust, error) {
	given := p.Overrides.Trust
	if value := p.Env(trustVariable); !given && value != "" {
		var err error
		if given, err = strconv.ParseBool(value); err != nil {
			return trust{}, &problem.Error{Err: fmt.Errorf("%s is %q", trustVariable, value), Hint: "want 1, or leave it out", Code: problem.Usage}
		}
	}
	include, unread := p.included()
	s, err := p.parseSource(settings, include)
	if err != nil { // of which nothing counts
		return trust{Standing: TrustEmpty}, nil //nolint:nilerr // it is told where the settings are read
	}
	how := p.usedBy(s)
	t := trust{List: s.list(how), Doubt: unread}
	switch {
	case len(t.List) == 0 && unread == nil:
		t.Standing = TrustEmpty
	case given && !p.LooksAtTrust:
		t.Standing = TrustGiven
	default:
		return p.weigh(ctx, s, how, t), nil
	}
	return t, nil
}

// weigh looks for the user's agreement, and then for whose file it is. What cannot be found out counts as a stranger's.
func (p *Project) weigh(ctx context.Context, s source, how filesUse, t trust) trust {
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
	own, unsure := p.ownFiles(ctx, book, how, t.List)
	if t.Doubt = errors.Join(err, unsure); !own || t.Doubt != nil {
		if list, err := book.List(agreement.Configuration); err == nil && len(list) > 0 {
			t.Before = list[len(list)-1].Items
		}
		return t
	}
	t.Standing = TrustOwn
	if err := p.agree(book, t.List, "written"); err != nil { // committed later, it asks nothing here
		p.Log.Debug("what the user wrote is not remembered", "error", err)
	}
	return t
}

// agreedTo reports whether the user agreed to what a version does: to it as it is used now, or to more of the same.
func agreedTo(book agreement.Book, s source, how filesUse) (bool, error) {
	for _, unsandboxed := range []bool{how.unsandboxed, true} {
		for _, agentTyped := range []bool{how.agentTyped, false} {
			agreed, err := book.Agreed(agreement.Configuration, fingerprint(s.list(filesUse{unsandboxed, agentTyped})))
			if agreed || err != nil {
				return agreed, err
			}
		}
	}
	return false, nil
}

// ownFiles reports whether no commit brought any of the list, but what the user agreed to before.
func (p *Project) ownFiles(ctx context.Context, book agreement.Book, how filesUse, list []config.Reach) (bool, error) {
	places, err := p.Repo.Recorded(ctx, config.Name, IncludeName)
	if err != nil {
		return false, err
	}
	used := TrustItems(list)
	for _, place := range places {
		s, err := p.parseSource(place[config.Name], place[IncludeName])
		if err != nil {
			return false, fmt.Errorf("the committed version cannot be read: %w", err)
		}
		brought := slices.ContainsFunc(TrustItems(s.list(how)), func(item string) bool { return slices.Contains(used, item) })
		if !brought {
			continue
		}
		if agreed, err := agreedTo(book, s, how); !agreed {
			return false, err
		}
	}
	return true, nil
}

func (p *Project) agree(book agreement.Book, list []config.Reach, how string) error {
	return book.Agree(agreement.Configuration, fingerprint(list), how, TrustItems(list), time.Now())
}

// fingerprint names exactly this list.
func fingerprint(list []config.Reach) string { return agreement.Fingerprint(TrustItems(list)...) }

// TrustItems are the settings of a list, each as one text that no other setting has.
func TrustItems(list []config.Reach) (items []string) {
	for _, r := range list {
		text, _ := json.Marshal([]string{r.Key, r.Value}) //nolint:errchkjson // two texts
		items = append(items, string(text))
	}
	return items
}
