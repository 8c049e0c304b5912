package registry

import (
	"errors"
	"signalbox/internal/workflow"
	"slices"
	"strings"
	"testing"
	"time"
)

var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// later is when the operations of these tests happen.
var later = began.Add(time.Hour)

func TestEachOperationUpdatesItsFields(t *testing.T) {
	t.Parallel()
	fails := func(do func(e *Environment) error) func(*testing.T, *Environment) {
		return func(t *testing.T, e *Environment) {
			t.Helper()
			if err := do(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	prOf := func(number int) func(*testing.T, *Environment) {
		return fails(func(e *Environment) error { return e.UpdatePR(number, later) })
	}
	type state struct {
		status EnvironmentStatus
		phase  workflow.Phase
		used   time.Time
	}
	const active, blocked, offered = EnvironmentActive, EnvironmentBlocked, EnvironmentPRCreated
	for _, test := range []struct {
		name   string
		before Environment
		do     func(*testing.T, *Environment)
		want   state
	}{
		{"opening touches", entryAt(active, "tdd-red", 0), func(_ *testing.T, e *Environment) { e.Touch(later) }, state{active, workflow.TDDRed, later}},
		{"a phase change", entryAt(active, "tdd-red", 0), fails(func(e *Environment) error { return e.SetPhase(workflow.TDDGreen, later) }), state{active, workflow.TDDGreen, later}},
		{"a phase change under a block", entryAt(blocked, "tdd-red", 0), fails(func(e *Environment) error { return e.SetPhase(workflow.TDDGreen, later) }), state{blocked, workflow.TDDGreen, later}},
		{"merged is followed by its clean-up", entryAt(EnvironmentMerged, "merge-cleanup", 7), fails(func(e *Environment) error { return e.SetPhase(workflow.ParentClose, later) }), state{EnvironmentMerged, workflow.ParentClose, later}},
		{"a pull request", entryAt(active, "approval-wait", 0), prOf(45), state{offered, workflow.PRCreate, later}},
		{"the same pull request again does not go back", entryAt(offered, "ci-watch", 45), prOf(45), state{offered, workflow.CIWatch, later}},
		{"another pull request starts there again", entryAt(offered, "ci-watch", 44), prOf(45), state{offered, workflow.PRCreate, later}},
		{"a pull request under a block", entryAt(blocked, "approval-wait", 0), prOf(45), state{blocked, workflow.PRCreate, later}},
		{"merged", entryAt(offered, "ci-watch", 7), func(_ *testing.T, e *Environment) { e.MarkMerged(later) }, state{EnvironmentMerged, workflow.MergeCleanup, later}},
		{"merged ends a block", entryAt(blocked, "ci-watch", 7), func(_ *testing.T, e *Environment) { e.MarkMerged(later) }, state{EnvironmentMerged, workflow.MergeCleanup, later}},
		{"merged again keeps its date", entryAt(EnvironmentMerged, "parent-close", 7), func(_ *testing.T, e *Environment) { e.MarkMerged(later) }, state{EnvironmentMerged, workflow.ParentClose, began}},
		{"merged of a strange step", entryAt(active, "coffee", 0), func(_ *testing.T, e *Environment) { e.MarkMerged(later) }, state{EnvironmentMerged, workflow.MergeCleanup, later}},
		{"abandoned", entryAt(offered, "ci-watch", 7), fails(func(e *Environment) error { return e.MarkAbandoned(later) }), state{EnvironmentAbandoned, workflow.CIWatch, later}},
		{"abandoned again", entryAt(EnvironmentAbandoned, "ci-watch", 7), fails(func(e *Environment) error { return e.MarkAbandoned(later) }), state{EnvironmentAbandoned, workflow.CIWatch, began}},
		{"unblocked returns to active", entryAt(blocked, "tdd-red", 0), func(_ *testing.T, e *Environment) { e.Unblock() }, state{active, workflow.TDDRed, began}},
		{"unblocked returns to pr_created", entryAt(blocked, "ci-watch", 7), func(_ *testing.T, e *Environment) { e.Unblock() }, state{offered, workflow.CIWatch, began}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := test.before
			test.do(t, &e)
			if got := (state{e.Status, e.Phase, e.LastUsedAt}); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if (e.Blocked != nil) != (e.Status == blocked) || e.Step != e.Phase.Step() {
				t.Errorf("blocked %+v, step %s at %d", e.Blocked, e.Step, e.Phase)
			}
		})
	}
}

func TestWhatDoesNotApplyIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	merged, abandoned := entryAt(EnvironmentMerged, "merge-cleanup", 7), entryAt(EnvironmentAbandoned, "tdd-red", 0)
	active := entryAt(EnvironmentActive, "tdd-red", 0)
	good := workflow.Blocked{Reason: workflow.ResourceLimit, Description: "the disk is full"}
	for _, test := range []struct {
		name   string
		before Environment
		do     func(*Environment) error
		want   error
	}{
		{"a merged one does not go back", merged, func(e *Environment) error { return e.SetPhase(workflow.TDDRed, later) }, ErrNotApplicable},
		{"an abandoned one does not go on", abandoned, func(e *Environment) error { return e.SetPhase(workflow.MergeCleanup, later) }, ErrNotApplicable},
		{"a merged one takes no pull request", merged, func(e *Environment) error { return e.UpdatePR(9, later) }, ErrNotApplicable},
		{"a pull request has a number", active, func(e *Environment) error { return e.UpdatePR(0, later) }, ErrInvalidEntry},
		{"a merged one is not given up", merged, func(e *Environment) error { return e.MarkAbandoned(later) }, ErrNotApplicable},
		{"an abandoned one is not blocked", abandoned, func(e *Environment) error { return e.Block(good, later) }, ErrNotApplicable},
		{"a block has one of six reasons", active, func(e *Environment) error { return e.Block(workflow.Blocked{Reason: "mood", Description: "x"}, later) }, ErrInvalidEntry},
		{"a block says what stands in the way", active, func(e *Environment) error {
			return e.Block(workflow.Blocked{Reason: workflow.ResourceLimit, Description: " "}, later)
		}, ErrInvalidEntry},
		{"a finding says something", active, func(e *Environment) error { _, err := e.AddFinding("\n"); return err }, ErrInvalidEntry},
		{"a merged one takes no finding", merged, func(e *Environment) error { _, err := e.AddFinding("x"); return err }, ErrNotApplicable},
		{"only what is found is resolved", active, func(e *Environment) error { _, err := e.ResolveFinding("b.go"); return err }, ErrNotApplicable},
		{"nothing names no finding", active, func(e *Environment) error { _, err := e.ResolveFinding(""); return err }, ErrNotApplicable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := test.before
			if err := test.do(&e); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if e.Status != test.before.Status || e.Phase != test.before.Phase || e.PRNumber != test.before.PRNumber ||
				e.Blocked != nil || len(e.PendingIssues) != 1 || !e.LastUsedAt.Equal(began) {
				t.Errorf("the entry became %+v", e)
			}
		})
	}
}

func TestABlockSuggestsWhatToDoWhereNobodySaid(t *testing.T) {
	t.Parallel()
	for _, reason := range BlockedReasons {
		e := entryAt(EnvironmentActive, "tdd-red", 0)
		if err := e.Block(workflow.Blocked{Reason: reason, Description: "x"}, later); err != nil || e.Blocked.SuggestedAction == "" || !e.Blocked.BlockedAt.Equal(later) {
			t.Errorf("%s: %+v, %v", reason, e.Blocked, err)
		}
	}
	e := entryAt(EnvironmentActive, "tdd-red", 0)
	if err := e.Block(workflow.Blocked{Reason: workflow.ResourceLimit, Description: "x", SuggestedAction: "wait"}, later); err != nil || e.Blocked.SuggestedAction != "wait" {
		t.Errorf("%+v, %v", e.Blocked, err)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	good := Environment{EnvID: "abc-123", IssueNumber: 42, Branch: "feature/auth", Title: "User\nauth"}
	var doc Environments
	if err := doc.Register(good, later); err != nil {
		t.Fatal(err)
	}
	e := doc.Environments[0]
	if e.Status != EnvironmentActive || e.Phase != workflow.EnvCreate || e.Step != "env-create" || e.Title != "User auth" ||
		!e.CreatedAt.Equal(later) || !e.LastUsedAt.Equal(later) {
		t.Errorf("registered: %+v", e)
	}
	if err := doc.Register(good, later.Add(time.Hour)); err != nil || len(doc.Environments) != 1 || !doc.Environments[0].CreatedAt.Equal(later) {
		t.Errorf("registering again: %v, %+v", err, doc.Environments)
	}
	other := good
	other.IssueNumber = 43
	if err := doc.Register(other, later); !errors.Is(err, ErrNotApplicable) || len(doc.Environments) != 1 {
		t.Errorf("the same id for another issue: %v", err)
	}
}

func TestRegisterRefusesWhatNobodyShouldHaveToRead(t *testing.T) {
	t.Parallel()
	change := func(do func(*Environment)) Environment {
		e := Environment{EnvID: "abc-123", IssueNumber: 42, Branch: "feature/auth", Title: "User auth"}
		do(&e)
		return e
	}
	for _, id := range []string{"", "-rf", "../../x", "a/../b", "a b", "a\x00", "a\nb", "/etc", "a/", "é", strings.Repeat("a", 129)} {
		if err := new(Environments).Register(change(func(e *Environment) { e.EnvID = id }), later); !errors.Is(err, ErrInvalidEntry) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, id := range []string{"abc-123-def", "project/fancy-mallard", "0f8fad5b-d9cb-469f-a165-70867728950e", "a", "issue-42-20260101-000000-abcdef"} {
		if err := new(Environments).Register(change(func(e *Environment) { e.EnvID = id }), later); err != nil {
			t.Errorf("id %q: %v", id, err)
		}
	}
	for _, branch := range []string{"", "--output=x", "a b", "a\nb", "a~1", "a:b", "\xff"} {
		if err := new(Environments).Register(change(func(e *Environment) { e.Branch = branch }), later); !errors.Is(err, ErrInvalidEntry) {
			t.Errorf("branch %q: %v", branch, err)
		}
	}
	for _, e := range []Environment{change(func(e *Environment) { e.IssueNumber = 0 }), change(func(e *Environment) { e.Title = " \n" })} {
		if err := new(Environments).Register(e, later); !errors.Is(err, ErrInvalidEntry) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

func TestTheEntryToGoOnWithIsFoundFirst(t *testing.T) {
	t.Parallel()
	named := func(id string, status EnvironmentStatus, issue, pr int, used time.Time) Environment {
		e := entryAt(status, "tdd-red", pr)
		e.EnvID, e.IssueNumber, e.LastUsedAt = id, issue, used
		return e
	}
	doc := Environments{Environments: []Environment{
		named("given-up", EnvironmentAbandoned, 42, 7, later.Add(time.Hour)), named("old", EnvironmentActive, 42, 7, began),
		named("other", EnvironmentActive, 4, 8, later), named("new", EnvironmentBlocked, 42, 0, later),
	}}
	ids := func(found []Environment) (ids []string) {
		for _, e := range found {
			ids = append(ids, e.EnvID)
		}
		return ids
	}
	if got := ids(doc.ByIssue(42)); !slices.Equal(got, []string{"new", "old", "given-up"}) {
		t.Errorf("issue 42: %q", got)
	}
	if got := ids(doc.ByPR(7)); !slices.Equal(got, []string{"old", "given-up"}) {
		t.Errorf("pull request 7: %q", got)
	}
	if got := doc.ByIssue(424); got != nil {
		t.Errorf("issue 424: %+v", got)
	}
	if err := doc.Remove("old"); err != nil || len(doc.Environments) != 3 {
		t.Errorf("after removing one: %v, %+v", err, doc.Environments)
	}
	if err := doc.Remove("old"); !errors.Is(err, ErrNoEnvironment) {
		t.Errorf("removing it again: %v", err)
	}
}

func TestFindingsAreNamedByWhatTheySay(t *testing.T) {
	t.Parallel()
	e := entryAt(EnvironmentActive, "review-fix", 0)
	e.PendingIssues = nil
	for _, text := range []string{"a.go: one", "a.go: one\ntwo", "b.go: three", "a.go: one"} {
		if _, err := e.AddFinding(text); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(e.PendingIssues, []string{"a.go: one", "a.go: one two", "b.go: three"}) {
		t.Fatalf("%q", e.PendingIssues)
	}
	if _, err := e.ResolveFinding("a.go"); !errors.Is(err, ErrNotApplicable) || len(e.PendingIssues) != 3 {
		t.Errorf("the beginning of two: %v", err)
	}
	if got, err := e.ResolveFinding("a.go: one"); err != nil || got != "a.go: one" {
		t.Errorf("one in full: %q, %v", got, err)
	}
	if got, err := e.ResolveFinding("b"); err != nil || got != "b.go: three" {
		t.Errorf("the beginning of one: %q, %v", got, err)
	}
	if n := e.ClearFindings(); n != 1 || len(e.PendingIssues) != 0 {
		t.Errorf("%d cleared, %q left", n, e.PendingIssues)
	}
}

func TestAPositionIsNamedByStepOrNumber(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words string
		want  workflow.Phase
		fixed bool
	}{{"tdd-green", workflow.TDDGreen, false}, {"5", workflow.TDDGreen, false}, {"5 tdd-green", workflow.TDDGreen, false}, {"9 pr-create", workflow.PRCreate, true},
		{"11 merge-cleanup", workflow.MergeCleanup, true}, {"0", workflow.BranchCreate, false}, {"14", workflow.ParentClose, false}} {
		p, fixed, err := ParsePosition(strings.Fields(test.words)...)
		if err != nil || p != test.want || fixed != test.fixed {
			t.Errorf("%s: %d, fixed %t, %v", test.words, p, fixed, err)
		}
	}
	for _, words := range []string{"15", "-1", "coffee", "5 coffee", "05"} {
		if _, _, err := ParsePosition(strings.Fields(words)...); !errors.Is(err, ErrInvalidEntry) {
			t.Errorf("%s: %v", words, err)
		}
	}
}
