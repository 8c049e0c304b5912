package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IssueRetention is how long a terminal record outlives what it was about:
// programs that wait for it must still be able to read it.
const IssueRetention = 7 * 24 * time.Hour

// ParseIssueStatus takes one of the three words that may be written.
func ParseIssueStatus(text string) (IssueStatusWord, error) {
	word := IssueStatusWord(text)
	if !slices.Contains([]IssueStatusWord{IssueRunning, IssueComplete, IssueError}, word) {
		return "", fmt.Errorf("status is %q; want running, complete or error", text)
	}
	return word, nil
}

// SessionName is <prefix>-issue-<n> (S2), the session of whoever names none.
func SessionName(issue int) string { return "signalbox-issue-" + strconv.Itoa(issue) }

// ErrNoMessage: an error without a message helps no one who reads it.
var ErrNoMessage = errors.New("an error takes a message that says what went wrong")

// Check reports whether the status may be written with the message.
func (w IssueStatusWord) Check(message string) error {
	if w == IssueError && strings.TrimSpace(message) == "" {
		return ErrNoMessage
	}
	return nil
}

// Set says anew where the issue stands; nothing of what was said before remains
// but the keys of others.
func (s *IssueStatus) Set(word IssueStatusWord, session, message string, now time.Time) {
	s.Status, s.Session, s.ErrorMessage = word, session, message
	s.Timestamp = now.UTC().Truncate(time.Second)
}

// Terminal: nothing is going on any more.
func (s *IssueStatus) Terminal() bool { return s.Status == IssueComplete || s.Status == IssueError }

// Retained reports whether clean-up must leave the record to those who wait for it.
// One from the future was written by a wrong clock and is taken as just written.
func (s *IssueStatus) Retained(now time.Time) bool {
	return s.Terminal() && now.Sub(s.Timestamp) < IssueRetention
}

// Expired reports whether clean-up may remove the record unasked: what it tells of is over for longer than the time that the
// user set, and than IssueRetention in any case. keep 0 is for ever.
func (s *IssueStatus) Expired(now time.Time, keep time.Duration) bool {
	return keep > 0 && s.Terminal() && now.Sub(s.Timestamp) >= max(keep, IssueRetention)
}

// OrphanedIssues are those of the issues that no folder of .worktrees belongs
// to: none is named issue-<n> or issue-<n>-<anything>.
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
