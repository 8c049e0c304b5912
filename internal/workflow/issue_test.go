package workflow_test

import (
	"errors"
	"slices"
	"testing"
	"time"

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
		if got := workflow.OrphanedIssues([]int{4, 42}, c.folders); !slices.Equal(got, c.want) {
			t.Errorf("%s: orphans are %v, want %v", c.name, got, c.want)
		}
	}
}

func TestOnlyTerminalRecordsAreRetainedAndOnlyForSevenDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		word workflow.IssueStatusWord
		age  time.Duration
		want bool
	}{
		{workflow.IssueComplete, 0, true}, {workflow.IssueError, 7*24*time.Hour - time.Second, true},
		{workflow.IssueError, 7 * 24 * time.Hour, false}, {workflow.IssueComplete, -time.Hour, true},
		{workflow.IssueRunning, 0, false}, {workflow.IssueRunning, 8 * 24 * time.Hour, false},
	} {
		s := workflow.IssueStatus{Status: c.word, Timestamp: now.Add(-c.age)}
		if got := s.Retained(now); got != c.want {
			t.Errorf("%s of %s ago is retained: %t, want %t", c.word, c.age, got, c.want)
		}
	}
}

func TestOnlyWhatIsOverForLongerThanTheUserSaidExpires(t *testing.T) {
	t.Parallel()
	now, day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), 24*time.Hour
	for _, c := range []struct {
		word      workflow.IssueStatusWord
		age, keep time.Duration
		want      bool
	}{
		{workflow.IssueComplete, 30 * day, 30 * day, true}, {workflow.IssueError, 31 * day, 30 * day, true},
		{workflow.IssueComplete, 30*day - time.Second, 30 * day, false}, {workflow.IssueComplete, 900 * day, 0, false},
		{workflow.IssueRunning, 900 * day, 30 * day, false}, {workflow.IssueComplete, -day, 30 * day, false},
		{workflow.IssueComplete, 6 * day, day, false},
	} {
		s := workflow.IssueStatus{Status: c.word, Timestamp: now.Add(-c.age)}
		if got := s.Expired(now, c.keep); got != c.want {
			t.Errorf("%s of %s ago, kept for %s, has expired: %t, want %t", c.word, c.age, c.keep, got, c.want)
		}
	}
}

func TestAnErrorTakesAMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]error{"": workflow.ErrNoMessage, " \n": workflow.ErrNoMessage, "exit code 1": nil} {
		if got := workflow.IssueError.Check(message); !errors.Is(got, want) {
			t.Errorf("an error that says %q: %v, want %v", message, got, want)
		}
		if got := workflow.IssueComplete.Check(message); got != nil {
			t.Errorf("complete that says %q: %v", message, got)
		}
	}
}

func TestStatusIsSetAnewAndLeavesForeignKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 5, time.FixedZone("JST", 9*3600))
	s := workflow.IssueStatus{Issue: 42, Status: workflow.IssueError, ErrorMessage: "old", Unknown: workflow.Unknown{"mine": []byte("1")}}
	s.Set(workflow.IssueRunning, workflow.SessionName(42), "", now)
	if s.ErrorMessage != "" || s.Session != "signalbox-issue-42" || s.Unknown == nil || s.Timestamp.Format(time.RFC3339Nano) != "2026-11-20T03:00:00Z" {
		t.Errorf("set to %+v", s)
	}
	for _, word := range []string{"running", "complete", "error"} {
		if _, err := workflow.ParseIssueStatus(word); err != nil {
			t.Error(err)
		}
	}
	for _, word := range []string{"", "unknown", "Running", "done", "running "} {
		if _, err := workflow.ParseIssueStatus(word); err == nil {
			t.Errorf("%q was taken for a status", word)
		}
	}
}
