package registry

import (
	"signalbox/internal/workflow"
	"strings"
	"testing"
	"time"
)

func TestCleanUp(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := began.Add(100 * day)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, test := range []struct {
		name    string
		status  EnvironmentStatus
		used    time.Time
		verdict ClearanceVerdict // empty: nothing to say
	}{
		{"merged seven days ago", EnvironmentMerged, ago(7 * day), ClearDelete},
		{"merged a little less long ago", EnvironmentMerged, ago(7*day - time.Second), ""},
		{"merged nobody knows when", EnvironmentMerged, time.Time{}, ClearReview},
		{"merged in the future", EnvironmentMerged, ago(-day), ""},
		{"abandoned just now", EnvironmentAbandoned, now, ClearDelete},
		{"abandoned nobody knows when", EnvironmentAbandoned, time.Time{}, ClearDelete},
		{"active and unused for thirty days", EnvironmentActive, ago(30 * day), ClearReview},
		{"active and in use", EnvironmentActive, ago(30*day - time.Second), ""},
		{"blocked for thirty days", EnvironmentBlocked, ago(31 * day), ClearReview},
		{"offered and forgotten", EnvironmentPRCreated, ago(90 * day), ClearReview},
		{"of an unknown status, unused", "paused", ago(90 * day), ClearReview},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := entryAt(test.status, "tdd-red", 0)
			e.LastUsedAt = test.used
			found := (&Environments{Environments: []Environment{e}}).CleanUp(now)
			if (len(found) == 1) != (test.verdict != "") || len(found) == 1 && (found[0].Verdict != test.verdict || found[0].Why == "") {
				t.Errorf("%+v, want %q", found, test.verdict)
			}
		})
	}
}

func TestTheBlockedReportNamesEveryBlockedOne(t *testing.T) {
	t.Parallel()
	bare := entryAt(EnvironmentBlocked, "tdd-red", 0)
	bare.EnvID, bare.Blocked = "bare", nil
	doc := Environments{Environments: []Environment{entryAt(EnvironmentActive, "tdd-red", 0), entryAt(EnvironmentBlocked, "tdd-red", 0), bare}}
	report := doc.BlockedReport()
	if len(report) != 2 || report[0].Reason != workflow.DesignAmbiguity || report[0].SuggestedAction != "choose one" || report[0].IssueNumber != 42 ||
		!report[0].BlockedAt.Equal(began) || report[1].EnvID != "bare" || report[1].Description == "" {
		t.Errorf("%+v", report)
	}
}

func TestOldEntriesAreMended(t *testing.T) {
	t.Parallel()
	seven := 7
	for _, test := range []struct {
		name     string
		old      Environment
		status   EnvironmentStatus
		phase    workflow.Phase
		step     workflow.StepName
		notes    int
		lastUsed time.Time
	}{
		{"nothing to mend", Environment{Status: EnvironmentActive, Phase: workflow.TDDRed, Step: "tdd-red", CreatedAt: began, LastUsedAt: later}, EnvironmentActive, workflow.TDDRed, "tdd-red", 0, later},
		{"pr-create was 9", Environment{Status: EnvironmentPRCreated, Phase: 9, Step: "pr-create", CreatedAt: began, LastUsedAt: later}, EnvironmentPRCreated, workflow.PRCreate, "pr-create", 1, later},
		{"merge-cleanup was 11", Environment{Status: EnvironmentMerged, Phase: 11, Step: "merge-cleanup", CreatedAt: began, LastUsedAt: later}, EnvironmentMerged, workflow.MergeCleanup, "merge-cleanup", 1, later},
		{"a phase without its step", Environment{Status: EnvironmentActive, Phase: workflow.TDDGreen, CreatedAt: began, LastUsedAt: later}, EnvironmentActive, workflow.TDDGreen, "tdd-green", 1, later},
		{"a strange step stays", Environment{Status: EnvironmentActive, Phase: 77, Step: "coffee", CreatedAt: began, LastUsedAt: later}, EnvironmentActive, 77, "coffee", 0, later},
		{"no status", Environment{Phase: workflow.TDDRed, Step: "tdd-red", CreatedAt: began, LastUsedAt: later}, EnvironmentActive, workflow.TDDRed, "tdd-red", 1, later},
		{"no status, a pull request", Environment{PRNumber: &seven, Phase: workflow.CIWatch, Step: "ci-watch", CreatedAt: began, LastUsedAt: later}, EnvironmentPRCreated, workflow.CIWatch, "ci-watch", 1, later},
		{"no status, a block", Environment{Blocked: &workflow.Blocked{}, Phase: workflow.TDDRed, Step: "tdd-red", CreatedAt: began, LastUsedAt: later}, EnvironmentBlocked, workflow.TDDRed, "tdd-red", 1, later},
		{"no last use", Environment{Status: EnvironmentActive, Phase: workflow.TDDRed, Step: "tdd-red", CreatedAt: began}, EnvironmentActive, workflow.TDDRed, "tdd-red", 1, began},
		{"hardly anything", Environment{}, EnvironmentActive, workflow.BranchCreate, "branch-create", 2, time.Time{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.old.EnvID = "old-one"
			doc := Environments{Environments: []Environment{test.old}}
			notes := doc.Fix()
			e := doc.Environments[0]
			if e.Status != test.status || e.Phase != test.phase || e.Step != test.step || !e.LastUsedAt.Equal(test.lastUsed) {
				t.Errorf("mended to %+v", e)
			}
			if len(notes) != test.notes || len(notes) > 0 && !strings.Contains(notes[0], `"old-one"`) {
				t.Errorf("it says %q", notes)
			}
			if again := doc.Fix(); len(again) > 0 {
				t.Errorf("mending again says %q", again)
			}
		})
	}
}
