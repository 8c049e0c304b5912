package registry

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow/wording"
)

// AddFinding appends a review finding, as one line; one that is there already is not added twice.
func (e *Environment) AddFinding(text string) (added bool, err error) {
	line := wording.OneLine(text)
	if line == "" {
		return false, fmt.Errorf("finding is empty: say what to fix: %w", ErrInvalidEntry)
	}
	if e.Over() {
		return false, e.refuse("nobody would mend it; open an issue instead")
	}
	if slices.Contains(e.PendingIssues, line) {
		return false, nil
	}
	e.PendingIssues = append(e.PendingIssues, line)
	return true, nil
}

// ResolveFinding takes out the finding that text names: all of it, or the
// beginning of exactly one. It returns the finding. Places in the list are no
// names: another process may have changed them in between.
func (e *Environment) ResolveFinding(text string) (string, error) {
	line := wording.OneLine(text)
	i := slices.Index(e.PendingIssues, line)
	for j, finding := range e.PendingIssues {
		if i >= 0 && e.PendingIssues[i] == line || line == "" || !strings.HasPrefix(finding, line) {
			continue
		}
		if i >= 0 {
			return "", fmt.Errorf("environment %q has several findings that begin with %q: name one in full: %w", e.EnvID, line, ErrNotApplicable)
		}
		i = j
	}
	if i < 0 {
		return "", fmt.Errorf("environment %q has no finding %q among its %d: %w", e.EnvID, line, len(e.PendingIssues), ErrNotApplicable)
	}
	resolved := e.PendingIssues[i]
	e.PendingIssues = slices.Delete(e.PendingIssues, i, i+1)
	return resolved, nil
}

// ClearFindings takes all findings out and returns how many there were.
func (e *Environment) ClearFindings() int {
	n := len(e.PendingIssues)
	e.PendingIssues = nil
	return n
}
