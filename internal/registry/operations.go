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

// The registry's operations (E7): what each does to environments.json, and
// nothing of how the file is read or written.

var (
	// ErrNoEnvironment: no entry has that id.
	ErrNoEnvironment = errors.New("there is no such environment")
	// ErrNotApplicable: the entry is not in a state that takes the operation.
	ErrNotApplicable = errors.New("this does not apply to the environment as it is")
	// ErrInvalidEntry: a value that an entry cannot have.
	ErrInvalidEntry = errors.New("the entry of an environment cannot say that")
)

// Find is the entry with that id, in place.
func (doc *Environments) Find(id string) (*Environment, error) {
	for i := range doc.Environments {
		if doc.Environments[i].EnvID == id {
			return &doc.Environments[i], nil
		}
	}
	return nil, fmt.Errorf("environment %q: %w", id, ErrNoEnvironment)
}

// ByIssue are the entries of an issue, the one to go on with first.
func (doc *Environments) ByIssue(issue int) []Environment {
	return doc.chosen(func(e *Environment) bool { return e.IssueNumber == issue })
}

// ByPR are the entries of a pull request, the one to go on with first.
func (doc *Environments) ByPR(number int) []Environment {
	return doc.chosen(func(e *Environment) bool { return e.PRNumber != nil && *e.PRNumber == number })
}

// chosen puts work before what is over, and what was used last before the rest.
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

// Register adds an environment that was just made, at env-create. Registering
// the same one again changes nothing, so that whoever was interrupted may repeat it.
func (doc *Environments) Register(e Environment, now time.Time) error {
	switch {
	case !plainName(e.EnvID, maxEnvID):
		return fmt.Errorf("environment id %q: want letters, digits and any of ._:/- inside, at most %d: %w", e.EnvID, maxEnvID, ErrInvalidEntry)
	case e.IssueNumber < 1:
		return fmt.Errorf("issue number %d: want one from 1 on: %w", e.IssueNumber, ErrInvalidEntry)
	case e.Branch == "" || len(e.Branch) > maxBranch || e.Branch[0] == '-' || strings.ContainsFunc(e.Branch, notInBranch):
		return fmt.Errorf("branch %q: want a git branch: %w", e.Branch, ErrInvalidEntry)
	case wording.OneLine(e.Title) == "":
		return fmt.Errorf("title is empty: say what the work is: %w", ErrInvalidEntry)
	}
	if there, err := doc.Find(e.EnvID); err == nil {
		if there.IssueNumber == e.IssueNumber && there.Branch == e.Branch {
			return nil
		}
		return fmt.Errorf("environment %q is registered for issue %d on branch %q: %w", e.EnvID, there.IssueNumber, there.Branch, ErrNotApplicable)
	}
	e.Title = wording.OneLine(e.Title)
	e.Status, e.Phase, e.Step = EnvironmentActive, workflow.EnvCreate, workflow.EnvCreate.Step()
	e.CreatedAt = second(now)
	e.LastUsedAt = e.CreatedAt
	doc.Environments = append(doc.Environments, e)
	return nil
}

// Longest id and branch, in bytes; git and file systems end at about twice that.
const (
	maxEnvID  = 128
	maxBranch = 200
)

// plainName: nothing that a shell, a path or an option could be read into.
func plainName(name string, limit int) bool {
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	if name == "" || len(name) > limit || !letter(rune(name[0])) || !letter(rune(name[len(name)-1])) || strings.Contains(name, "..") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !letter(r) && !strings.ContainsRune("._:/-", r) })
}

// notInBranch are the characters that git refuses in a name.
func notInBranch(r rune) bool {
	return unicode.IsControl(r) || strings.ContainsRune(" ~^:?*[\\\ufffd", r)
}

// Remove takes an entry out, as the last thing that happens to an environment.
func (doc *Environments) Remove(id string) error {
	if _, err := doc.Find(id); err != nil {
		return err
	}
	doc.Environments = slices.DeleteFunc(doc.Environments, func(e Environment) bool { return e.EnvID == id })
	return nil
}

// second is the grain of the times that people's operations leave.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
