package registry

import (
	"fmt"
	"slices"
	"strings"

	"signalbox/internal/workflow/wording"
)

// AddFinding appends a review finding, with line breaks and repeated spaces replaced by one space and
// control characters by "?". It returns false, and changes nothing, if the same line is there already:
// a script may report its findings again.
//
// It returns ErrInvalidEntry for an empty finding, and ErrNotApplicable if the work is over, because
// no agent would read the finding any more.
func (e *Environment) AddFinding(text string) (added bool, err error) {
	line := wording.OneLine(text)
	if line == "" {
		return false, fmt.Errorf("%w: finding is empty: say what to fix", ErrInvalidEntry)
	}
	if e.Over() {
		return false, e.refuse("its work has ended; open an issue for the finding")
	}
	if slices.Contains(e.PendingIssues, line) {
		return false, nil
	}
	e.PendingIssues = append(e.PendingIssues, line)
	return true, nil
}

// ResolveFinding removes the finding that text names, and returns it. text is the whole finding or
// the beginning of exactly one. A position in the list would be no safe name, because another process
// may have changed the list since it was read.
//
// It returns ErrNotApplicable if no finding begins with text, or if several do and none is exactly text.
func (e *Environment) ResolveFinding(text string) (string, error) {
	line := wording.OneLine(text)
	i := slices.Index(e.PendingIssues, line)
	for j, finding := range e.PendingIssues {
		if i >= 0 && e.PendingIssues[i] == line || line == "" || !strings.HasPrefix(finding, line) {
			continue
		}
		if i >= 0 {
			return "", fmt.Errorf("%w: environment %q has several findings that begin with %q; name one in full", ErrNotApplicable, e.EnvID, line)
		}
		i = j
	}
	if i < 0 {
		return "", fmt.Errorf("%w: environment %q has no finding %q", ErrNotApplicable, e.EnvID, line)
	}
	resolved := e.PendingIssues[i]
	e.PendingIssues = slices.Delete(e.PendingIssues, i, i+1)
	return resolved, nil
}

// ClearFindings removes all findings, as after a review that found nothing new, and returns their number.
func (e *Environment) ClearFindings() int {
	n := len(e.PendingIssues)
	e.PendingIssues = nil
	return n
}
