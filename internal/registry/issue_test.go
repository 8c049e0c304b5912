package registry_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"signalbox/internal/registry"
	"signalbox/internal/workflow"
)

func TestIssueIsAnOrphanWithoutAFolderOfItsOwnNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		folders []string
		want    []int
	}{
		{"no folders", nil, []int{4, 42}},
		{"folder with a slug", []string{"issue-42-fix"}, []int{4}},
		{"folder without one", []string{"issue-4"}, []int{42}},
		{"4 is not 42", []string{"issue-42-x", "issue-421-x", "issue-442"}, []int{4}},
		{"42 is not 4", []string{"issue-4-2", "issue-4-42"}, []int{42}},
		{"slug of any letters", []string{"issue-4-Größe ä\n", "issue-42-"}, nil},
		{"what only looks like it", []string{"issue-042-x", "issue-4x", "issue--4", "xissue-4", "issue-4.bak", "issue-+4", ".status"}, []int{4, 42}},
	} {
		if got := registry.OrphanedIssues([]int{4, 42}, c.folders); !slices.Equal(got, c.want) {
			t.Errorf("%s: orphans are %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOnlyTerminalRecordsAreRetainedAndOnlyForSevenDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		word registry.IssueStatusWord
		age  time.Duration
		want bool
	}{
		{registry.IssueComplete, 0, true}, {registry.IssueError, 7*24*time.Hour - time.Second, true},
		{registry.IssueError, 7 * 24 * time.Hour, false}, {registry.IssueComplete, -time.Hour, true},
		{registry.IssueRunning, 0, false}, {registry.IssueRunning, 8 * 24 * time.Hour, false},
	} {
		s := registry.IssueStatus{Status: c.word, Timestamp: now.Add(-c.age)}
		if got := s.Retained(now); got != c.want {
			t.Errorf("%s of %s ago is retained: %t, want %t", c.word, c.age, got, c.want)
		}
	}
}

func TestOnlyWhatIsOverForLongerThanTheUserSaidExpires(t *testing.T) {
	t.Parallel()
	now, day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), 24*time.Hour
	for _, c := range []struct {
		word      registry.IssueStatusWord
		age, keep time.Duration
		want      bool
	}{
		{registry.IssueComplete, 30 * day, 30 * day, true}, {registry.IssueError, 31 * day, 30 * day, true},
		{registry.IssueComplete, 30*day - time.Second, 30 * day, false}, {registry.IssueComplete, 900 * day, 0, false},
		{registry.IssueRunning, 900 * day, 30 * day, false}, {registry.IssueComplete, -day, 30 * day, false},
		{registry.IssueComplete, 6 * day, day, false},
	} {
		s := registry.IssueStatus{Status: c.word, Timestamp: now.Add(-c.age)}
		if got := s.Expired(now, c.keep); got != c.want {
			t.Errorf("%s of %s ago, kept for %s, has expired: %t, want %t", c.word, c.age, c.keep, got, c.want)
		}
	}
}

func TestAnErrorTakesAMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]error{"": registry.ErrNoMessage, " \n": registry.ErrNoMessage, "exit code 1": nil} {
		if got := registry.IssueError.Check(message); !errors.Is(got, want) {
			t.Errorf("an error that says %q: %v, want %v", message, got, want)
		}
		if got := registry.IssueComplete.Check(message); got != nil {
			t.Errorf("complete that says %q: %v", message, got)
		}
	}
}

func TestStatusIsSetAnewAndLeavesForeignKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 5, time.FixedZone("JST", 9*3600))
	s := registry.IssueStatus{Issue: 42, Status: registry.IssueError, ErrorMessage: "old", Unknown: workflow.Unknown{"mine": []byte("1")}}
	s.Set(registry.IssueRunning, registry.SessionName(42), "", now)
	if s.ErrorMessage != "" || s.Session != "signalbox-issue-42" || s.Unknown == nil || s.Timestamp.Format(time.RFC3339Nano) != "2026-11-20T03:00:00Z" {
		t.Errorf("set to %+v", s)
	}
	for _, word := range []string{"running", "complete", "error"} {
		if _, err := registry.ParseIssueStatus(word); err != nil {
			t.Error(err)
		}
	}
	for _, word := range []string{"", "unknown", "Running", "done", "running "} {
		if _, err := registry.ParseIssueStatus(word); err == nil {
			t.Errorf("%q was taken for a status", word)
		}
	}
}
