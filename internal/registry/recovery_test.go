package registry

import (
	"signalbox/internal/workflow"
	"strings"
	"testing"
)

const onARef = "refs/heads/signalbox/42-fix"

// Every pair of a status and a pull request, the positions that the table lacks, and environments that are gone.
func TestTheRecoveryMatrix(t *testing.T) {
	t.Parallel()
	const active, blocked, offered = EnvironmentActive, EnvironmentBlocked, EnvironmentPRCreated
	type want struct {
		action string
		record EnvironmentStatus
		says   string
	}
	for _, test := range []struct {
		name   string
		status EnvironmentStatus
		step   workflow.StepName
		pr     int
		seen   Surroundings
		want   want
	}{
		{"active without a pull request goes on where it was", active, "tdd-green", 0, Surroundings{PR: PRNone}, want{"implement", "", ""}},
		{"active of which nothing else is known goes on where it was", active, "design-read", 0, Surroundings{}, want{"read_design", "", ""}},
		{"active with a recorded pull request is adopted", active, "tdd-green", 7, Surroundings{}, want{"create_pr", offered, "is unknown"}},
		{"active with an open pull request is adopted", active, "tdd-green", 7, Surroundings{PR: PROpen}, want{ResumeOpen, offered, "is open"}},
		{"active with an open pull request that it does not know is adopted", active, "approval-wait", 0, Surroundings{PR: PROpen, PRNumber: 7}, want{ResumeOpen, offered, "is open"}},
		{"active whose pull request is merged is merged", active, "tdd-green", 7, Surroundings{PR: PRMerged}, want{"merge_and_cleanup", EnvironmentMerged, ""}},
		{"active whose pull request was closed goes on, warned", active, "tdd-green", 7, Surroundings{PR: PRClosed}, want{"implement", "", "closed unmerged"}},
		{"blocked tells a person", blocked, "tdd-green", 0, Surroundings{PR: PRNone}, want{ResumeNotifyHuman, "", "Blocked: ids are int and uuid"}},
		{"blocked with an open pull request tells a person", blocked, "ci-watch", 7, Surroundings{PR: PROpen}, want{ResumeNotifyHuman, "", "Blocked: "}},
		{"blocked with a closed pull request tells a person", blocked, "ci-watch", 7, Surroundings{PR: PRClosed}, want{ResumeNotifyHuman, "", "Blocked: "}},
		{"blocked whose pull request is merged is merged", blocked, "ci-watch", 7, Surroundings{PR: PRMerged}, want{"merge_and_cleanup", EnvironmentMerged, ""}},
		{"blocked of which the folder is gone tells a person of the block", blocked, "tdd-green", 0, Surroundings{Gone: true}, want{ResumeNotifyHuman, "", "Blocked: "}},
		{"pr_created with an open pull request is reopened for fixes", offered, "pr-create", 7, Surroundings{PR: PROpen}, want{ResumeOpen, "", "reopen"}},
		{"pr_created that watches its checks goes on watching", offered, "ci-watch", 7, Surroundings{PR: PROpen}, want{"watch_ci", "", ""}},
		{"pr_created that is being mended goes on mending", offered, "review-fix", 7, Surroundings{PR: PROpen}, want{"fix_review_issues", "", ""}},
		{"pr_created of unknown pull request goes on where it was, warned", offered, "ci-watch", 7, Surroundings{}, want{"watch_ci", "", "is unknown"}},
		{"pr_created whose pull request is nowhere opens it", offered, "pr-create", 7, Surroundings{PR: PRNone}, want{"create_pr", "", ""}},
		{"pr_created whose pull request is merged is merged", offered, "ci-watch", 7, Surroundings{PR: PRMerged}, want{"merge_and_cleanup", EnvironmentMerged, ""}},
		{"pr_created whose pull request was closed is abandoned", offered, "ci-watch", 7, Surroundings{PR: PRClosed}, want{ResumeDelete, EnvironmentAbandoned, ""}},
		{"merged is to be cleaned up", EnvironmentMerged, "merge-cleanup", 7, Surroundings{PR: PRMerged}, want{"merge_and_cleanup", "", ""}},
		{"merged closes its request", EnvironmentMerged, "parent-close", 7, Surroundings{}, want{"close_parent_issue", "", ""}},
		{"merged stays merged whatever the forge says", EnvironmentMerged, "merge-cleanup", 7, Surroundings{PR: PRClosed, Gone: true}, want{"merge_and_cleanup", "", ""}},
		{"merged at an early step is to be cleaned up", EnvironmentMerged, "tdd-red", 7, Surroundings{}, want{"merge_and_cleanup", "", ""}},
		{"abandoned is deleted", EnvironmentAbandoned, "tdd-green", 0, Surroundings{}, want{ResumeDelete, "", ""}},
		{"abandoned is deleted whatever the forge says", EnvironmentAbandoned, "ci-watch", 7, Surroundings{PR: PROpen}, want{ResumeDelete, "", ""}},
		{"gone with commits on its ref is made again", active, "tdd-green", 0, Surroundings{Gone: true, Ref: onARef}, want{ResumeRecreate, "", onARef}},
		{"gone with a pull request and commits is made again", offered, "pr-create", 7, Surroundings{PR: PROpen, Gone: true, Ref: onARef}, want{ResumeRecreate, "", onARef}},
		{"gone with nothing left tells a person", active, "tdd-green", 0, Surroundings{Gone: true}, want{ResumeNotifyHuman, "", "no ref"}},
		{"not made yet is not gone", active, "env-create", 0, Surroundings{Gone: true}, want{ResumeOpen, "", ""}},
		{"an unknown step opens the environment, warned", active, "coffee", 0, Surroundings{}, want{ResumeOpen, "", `step "coffee" is unknown`}},
		{"an unknown status tells a person", "paused", "tdd-red", 0, Surroundings{}, want{ResumeNotifyHuman, "", `status "paused" is unknown`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := entryAt(test.status, test.step, test.pr)
			r := Recover(&e, test.seen)
			if r.Action != test.want.action || r.Record != test.want.record {
				t.Errorf("%s, recorded as %q; want %s as %q", r.Action, r.Record, test.want.action, test.want.record)
			}
			if said := r.Message + "\n" + r.Warning; !strings.Contains(said, test.want.says) || test.want.says == "" && said != "\n" {
				t.Errorf("says %q, want %q", said, test.want.says)
			}
			if r.EnvID != "fancy-mallard" || len(r.PendingIssues) != 1 || r.Branch != "feature/x" {
				t.Errorf("the inputs are %+v", r)
			}
		})
	}
}

func entryAt(status EnvironmentStatus, step workflow.StepName, pr int) Environment {
	phase, _ := workflow.PhaseOf(step)
	e := Environment{EnvID: "fancy-mallard", IssueNumber: 42, Branch: "feature/x", Status: status, Phase: phase, Step: step,
		PendingIssues: []string{"a.go: wrong"}, CreatedAt: began, LastUsedAt: began}
	if pr > 0 {
		e.PRNumber = &pr
	}
	if status == EnvironmentBlocked {
		e.Blocked = &workflow.Blocked{Reason: workflow.DesignAmbiguity, Description: "ids are int and uuid", SuggestedAction: "choose one", BlockedAt: began}
	}
	return e
}

func TestEveryPositionHasItsResumePoint(t *testing.T) {
	t.Parallel()
	for _, row := range workflow.Positions {
		e := entryAt(EnvironmentActive, row.Step, 0)
		e.Phase = 77 // the step's name is the key
		r := Recover(&e, Surroundings{PR: PRNone})
		if r.Action != row.Resume || *r.Phase != row.Phase || r.Step != row.Step {
			t.Errorf("%s: %s at %d, want %s at %d", row.Step, r.Action, *r.Phase, row.Resume, row.Phase)
		}
	}
}

func TestNoEntryMeansANewEnvironment(t *testing.T) {
	t.Parallel()
	if r := Recover(nil, Surroundings{}); r.Action != ResumeCreateNew {
		t.Errorf("got %+v", r)
	}
}

func TestABlockedEntryGivesWhatIsSuggested(t *testing.T) {
	t.Parallel()
	e := entryAt(EnvironmentBlocked, "tdd-red", 0)
	if r := Recover(&e, Surroundings{}); r.SuggestedAction != "choose one" {
		t.Errorf("got %+v", r)
	}
	e.Blocked = nil
	if r := Recover(&e, Surroundings{}); r.Action != ResumeNotifyHuman || r.Message == "" {
		t.Errorf("without a reason: %+v", r)
	}
}

func TestRecoveryLeavesTheEntryAlone(t *testing.T) {
	t.Parallel()
	e := entryAt(EnvironmentActive, "tdd-red", 7)
	Recover(&e, Surroundings{PR: PROpen})
	if e.Status != EnvironmentActive || e.Phase != workflow.TDDRed || e.Step != "tdd-red" {
		t.Errorf("the entry became %+v", e)
	}
}
