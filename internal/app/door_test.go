package app_test

import (
	"slices"
	"testing"

	"signalbox/internal/app"
	"signalbox/internal/app/apptest"
	"signalbox/internal/workflow"
)

// A front end in forty lines: it lists, starts, approves and follows a run through app alone.
func TestAFrontEndNeedsNothingButApp(t *testing.T) {
	t.Parallel()
	project := apptest.Open(t, apptest.Make(t, apptest.Greeting))
	listed := func() app.Listing {
		lines, broken, err := project.List(t.Context(), false)
		if err != nil || broken != nil || len(lines) != 1 {
			t.Fatalf("listed %v, %v, %v", lines, broken, err)
		}
		return lines[0]
	}
	if l := listed(); l.Number != 7 || l.State != "" {
		t.Fatalf("before it began: %+v", l)
	}
	var phases []workflow.Phase
	watch := func(*app.App) func(workflow.Run) {
		return func(r workflow.Run) { phases = append(phases, r.Details.Phase) }
	}
	begun, err := project.StartRuns(t.Context(), []string{"7"}, watch)
	if err != nil || begun[0].Err != nil || begun[0].Run.State != workflow.NeedsInput || listed().Phase != "approval-wait" {
		t.Fatalf("started: %+v, %v", begun, err)
	}
	if _, err := project.Give(t.Context(), "7", app.Approve("0123456789"), watch); err == nil {
		t.Fatal("agreed to a change that nobody made")
	}
	done, err := project.Give(t.Context(), "7", app.Approve(""), watch)
	if err != nil || done.Carried[0].Run.State != workflow.Done || !slices.Contains(phases, workflow.MergeCleanup) {
		t.Fatalf("approved: %+v, %v, %v", done, phases, err)
	}
	followed, err := project.Watched(t.Context(), []string{"7"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := project.Follow(t.Context(), followed, func(*workflow.Run) {}); err != nil || runs[0].State != workflow.Done || listed().State != workflow.Done {
		t.Fatalf("followed: %v, %v", runs, err)
	}
}
