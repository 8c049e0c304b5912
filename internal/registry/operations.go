package registry

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/wording"
)

// The reasons to refuse an operation. A refused operation changes nothing. Each error wraps one of them
// and adds what is wrong and what to do instead; front ends derive exit codes and hints from them.
var (
	// ErrNoEnvironment: no entry has this id.
	ErrNoEnvironment = errors.New("no such environment")
	// ErrNotApplicable: the entry's status or content doesn't allow the operation. With other arguments
	// or at another time it might.
	ErrNotApplicable = errors.New("refused")
	// ErrInvalidEntry: no entry can have the given value. The caller made a mistake.
	ErrInvalidEntry = errors.New("invalid environment entry")
)

// Find returns the entry with exactly this id, or ErrNoEnvironment. The result points into the document:
// to change the entry is to change the document.
func (doc *Environments) Find(id string) (*Environment, error) {
	for i := range doc.Environments {
		if doc.Environments[i].EnvID == id {
			return &doc.Environments[i], nil
		}
	}
	return nil, fmt.Errorf("environment %q: %w", id, ErrNoEnvironment)
}

// ByIssue returns copies of an issue's entries, the one to continue with first; nil if there is none.
func (doc *Environments) ByIssue(issue int) []Environment {
	return doc.chosen(func(e *Environment) bool { return e.IssueNumber == issue })
}

// ByPR returns copies of a pull request's entries, the one to continue with first; nil if there is none.
func (doc *Environments) ByPR(number int) []Environment {
	return doc.chosen(func(e *Environment) bool { return e.PRNumber != nil && *e.PRNumber == number })
}

// chosen returns copies of the wanted entries: work that continues before work that is over, then by last
// use, the latest first, then by id.
func (doc *Environments) chosen(wanted func(*Environment) bool) (found []Environment) {
	for i := range doc.Environments {
		if wanted(&doc.Environments[i]) {
			found = append(found, doc.Environments[i])
		}
	}
	slices.SortStableFunc(found, func(a, b Environment) int {
		if a.Over() != b.Over() {
			if a.Over() {
				return 1
			}
			return -1
		}
		return cmp.Or(b.LastUsedAt.Compare(a.LastUsedAt), cmp.Compare(a.EnvID, b.EnvID))
	})
	return found
}

// Register adds an environment that was just made: active, at env-create, used now. e gives the id, the
// issue's number, the branch, the title, which becomes one line, and the area.
//
// Registering the same id, issue and branch again changes nothing, so a script that was interrupted can
// repeat the call. For the same id with another issue or branch it returns ErrNotApplicable, and
// ErrInvalidEntry for a malformed value. If it returns an error, the caller should delete the environment
// again: no one would find it without an entry.
func (doc *Environments) Register(e Environment, now time.Time) error {
	switch {
	case !plainName(e.EnvID, maxEnvID):
		return fmt.Errorf("%w: environment id %q: want ASCII letters and digits, with ._:/- between them, at most %d bytes", ErrInvalidEntry, e.EnvID, maxEnvID)
	case e.IssueNumber < 1:
		return fmt.Errorf("%w: issue number %d: want 1 or more", ErrInvalidEntry, e.IssueNumber)
	case e.Branch == "" || len(e.Branch) > maxBranch || e.Branch[0] == '-' || strings.ContainsFunc(e.Branch, notInBranch):
		return fmt.Errorf("%w: branch %q: want the name of a git branch, at most %d bytes", ErrInvalidEntry, e.Branch, maxBranch)
	case wording.OneLine(e.Title) == "":
		return fmt.Errorf("%w: title is empty: say what the work is about", ErrInvalidEntry)
	}
	if there, err := doc.Find(e.EnvID); err == nil {
		if there.IssueNumber == e.IssueNumber && there.Branch == e.Branch {
			return nil
		}
		return fmt.Errorf("%w: environment %q is registered for issue %d on branch %q; use another id", ErrNotApplicable, e.EnvID, there.IssueNumber, there.Branch)
	}
	e.Title = wording.OneLine(e.Title)
	e.Status, e.Phase, e.Step = EnvironmentActive, workflow.EnvCreate, workflow.EnvCreate.Step()
	e.CreatedAt = second(now)
	e.LastUsedAt = e.CreatedAt
	doc.Environments = append(doc.Environments, e)
	return nil
}

// The most bytes in an id and in a branch. Both may become file names, for which most file systems allow
// 255 bytes; git adds ".lock".
const (
	maxEnvID  = 128
	maxBranch = 200
)

// plainName reports whether a name is safe to paste into a command: it can't be read as shell syntax, as an
// option or as a path that leaves its folder.
func plainName(name string, limit int) bool {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	if name == "" || len(name) > limit || !letter(rune(name[0])) || !letter(rune(name[len(name)-1])) || strings.Contains(name, "..") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !letter(r) && !strings.ContainsRune("._:/-", r) })
}

// notInBranch reports whether git refuses the character in a branch's name. The replacement character stands
// for text that isn't UTF-8.
func notInBranch(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(" ~^:?*[\\\ufffd", r)
}

// Remove removes the entry with this id, or returns ErrNoEnvironment. It should come last, after the
// environment itself was deleted: without an entry, no one finds what is left of it.
func (doc *Environments) Remove(id string) error {
	if _, err := doc.Find(id); err != nil {
		return err
	}
	doc.Environments = slices.DeleteFunc(doc.Environments, func(e Environment) bool { return e.EnvID == id })
	return nil
}

// second returns a time as the operations record it: in UTC and whole seconds, as other writers of the
// document do.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
