package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IssueRetention is how long a final status is kept after it was set: a program that waits for the
// issue may ask only after everything else was cleaned up.
const IssueRetention = 7 * 24 * time.Hour

// ParseIssueStatus returns the word that text is, spelled exactly: running, complete or error, which a
// file may hold. Any other text is an error, and so is unknown, the answer for a missing file.
func ParseIssueStatus(text string) (IssueStatusWord, error) {
	word := IssueStatusWord(text)
	if !slices.Contains([]IssueStatusWord{IssueRunning, IssueComplete, IssueError}, word) {
		return "", fmt.Errorf("status is %q; want running, complete or error", text)
	}
	return word, nil
}

// SessionName returns the name under which an issue's session is recorded if its writer gives none:
// signalbox-issue-42. A run that has no session has the name too, because the format requires one.
func SessionName(issue int) string { return "signalbox-issue-" + strconv.Itoa(issue) }

// ErrNoMessage refuses the status error without a message: a waiting program would learn nothing from it.
var ErrNoMessage = errors.New("an error needs a message that says what went wrong")

// Check returns ErrNoMessage if the status may not be written with this message, and nil otherwise. Only
// an error needs one; white space is none.
func (w IssueStatusWord) Check(message string) error {
	if w == IssueError && strings.TrimSpace(message) == "" {
		return ErrNoMessage
	}
	return nil
}

// Set replaces the status, its session and its message, and records now, in whole seconds and UTC.
// Keys of other programs stay.
func (s *IssueStatus) Set(word IssueStatusWord, session, message string, now time.Time) {
	s.Status, s.Session, s.ErrorMessage = word, session, message
	s.Timestamp = now.UTC().Truncate(time.Second)
}

// Terminal reports whether the status is final: no one works on the issue any more.
func (s *IssueStatus) Terminal() bool { return s.Status == IssueComplete || s.Status == IssueError }

// Retained reports whether cleanup must leave a final status to programs that wait for it, because it
// is younger than IssueRetention. One from the future was written by a wrong clock and counts as new. A
// status that isn't final is never retained; the caller knows whether its run is alive.
func (s *IssueStatus) Retained(now time.Time) bool {
	return s.Terminal() && now.Sub(s.Timestamp) < IssueRetention
}

// Expired reports whether a run may remove the status without being asked: it has been final for keep,
// and for IssueRetention if that is longer. keep is the user's setting keep_statuses; 0 keeps all.
func (s *IssueStatus) Expired(now time.Time, keep time.Duration) bool {
	return keep > 0 && s.Terminal() && now.Sub(s.Timestamp) >= max(keep, IssueRetention)
}

// OrphanedIssues returns those of the issues that have no folder left, in their order. folders are the
// names in .worktrees; issue-42 and issue-42-<anything> belong to issue 42. The status of an orphan is
// all that is left of the work.
func OrphanedIssues(issues []int, folders []string) (orphans []int) {
	at := map[int]bool{}
	for _, name := range folders {
		number, isIssue := strings.CutPrefix(name, "issue-")
		number, _, _ = strings.Cut(number, "-")
		if n, err := strconv.Atoi(number); isIssue && err == nil && strconv.Itoa(n) == number {
			at[n] = true
		}
	}
	for _, n := range issues {
		if !at[n] {
			orphans = append(orphans, n)
		}
	}
	return orphans
}
