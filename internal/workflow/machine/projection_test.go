package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/policy"
)

// The table of SPEC 0 and E10, word for word.
func TestPositions(t *testing.T) {
	t.Parallel()
	const work = "IMPLEMENTING APPLYING TESTING"
	for i, want := range []struct {
		step, stages, progress, resume string
	}{
		{"branch-create", "INIT LOCK_ACQUIRED", "pre_planning", "create_branch"},
		{"env-create", "LOCK_ACQUIRED", "pre_planning", "open_environment"},
		{"design-read", "PLANNING", "pre_planning", "read_design"},
		{"design-check", "PLANNING", "planning", "check_design_feasibility"},
		{"tdd-red", work, "execution", "write_tests"},
		{"tdd-green", work, "execution", "implement"},
		{"tdd-refactor", work, "execution", "refactor"},
		{"review-request", "TESTING", "reflection", "request_review"},
		{"review-fix", work, "reflection", "fix_review_issues"},
		{"stress-test", "TESTING", "verification", "run_stress_tests"},
		{"approval-wait", "REPORTING", "verification", "wait_approval"},
		{"pr-create", "REPORTING", "verification", "create_pr"},
		{"ci-watch", "REPORTING", "verification", "watch_ci"},
		{"merge-cleanup", "FINALIZING", "complete", "merge_and_cleanup"},
		{"parent-close", "FINALIZING END", "complete", "close_parent_issue"},
	} {
		row := workflow.Phase(i).Position()
		if row.Phase != workflow.Phase(i) || string(row.Step) != want.step || stagesOf(row) != want.stages ||
			string(row.Progress) != want.progress || row.Resume != want.resume || row.Doing == "" {
			t.Errorf("phase %d is %+v, want %+v", i, row, want)
		}
		if p, ok := workflow.PhaseOf(row.Step); !ok || p != workflow.Phase(i) || !p.Valid() || p.String() != want.step {
			t.Errorf("%s is phase %d, want %d", want.step, p, i)
		}
	}
	if len(workflow.Positions) != 15 {
		t.Errorf("there are %d phases, want 15", len(workflow.Positions))
	}
}

func stagesOf(row workflow.Position) string {
	stages := row.Stages
	if stages == nil {
		stages = []workflow.Stage{row.Stage}
	}
	words := make([]string, len(stages))
	for i, s := range stages {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

func TestUnknownPositionsAreResumedAtTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range []workflow.Phase{-1, 15, 999} {
		if p.Valid() || p.Position().Resume != "open_environment" {
			t.Errorf("phase %d is valid: %t, resumed with %s", p, p.Valid(), p.Position().Resume)
		}
	}
	if _, ok := workflow.PhaseOf("dance"); ok {
		t.Error(`there is a phase "dance"`)
	}
}

func TestAFindingIsOneLineWhateverItHolds(t *testing.T) {
	t.Parallel()
	f := workflow.Finding{File: "a\x1b[2J", Text: "one\ntwo\r\x00\u009b\xff"}
	if got, want := f.Line1(), "a?[2J: one two????"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestProgressPhase(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	full := ordinary(workflow.WorkflowFull, true)
	begun := times(1, untilAction(workflow.CallAgent), plans(withSetUp), untilAction(workflow.RunSetUp))
	for _, test := range []struct {
		acts []act
		want workflow.ProgressPhase
	}{
		{nil, workflow.ProgressPrePlanning},
		{[]act{untilPhase(workflow.DesignCheck)}, workflow.ProgressPlanning},
		{[]act{begun}, workflow.ProgressEnvironmentSetup},
		{[]act{begun, does(workflow.StopRequested{})}, workflow.ProgressEnvironmentSetup},
		{[]act{begun, well, well, well}, workflow.ProgressExecution},
		{[]act{untilPhase(workflow.ReviewRequest)}, workflow.ProgressReflection},
		{[]act{untilPhase(workflow.CIWatch)}, workflow.ProgressVerification},
		{[]act{toTheEnd}, workflow.ProgressComplete},
	} {
		if run := lived(t, full, test.acts...); run.ProgressPhase() != test.want {
			t.Errorf("%s is in %s, want %s", where(run), run.ProgressPhase(), test.want)
		}
	}
}

// Percent grows while all goes well and says 100 for what is merged alone.
func TestPercentGrows(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), does(workflow.Admitted{}))
	for run.State == workflow.Running {
		before := run.Progress.Percent
		run = well(t, run)
		if p := run.Progress.Percent; p < before || (p == 100) != (run.State == workflow.Done) {
			t.Fatalf("%d %% after %d %%: %s", p, before, where(run))
		}
	}
	if run.Progress.Percent != 100 {
		t.Errorf("a merged run is at %d %%", run.Progress.Percent)
	}
}

func TestTheAreaOfAChangeIsTheFolderWithMostOfItsFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{nil, ""}, {[]string{"README.md"}, ""}, {[]string{"cmd/a.go"}, "cmd"}, {[]string{"x/1", "a/1", "x/y/2"}, "x"}, {[]string{"b/1", "a/1"}, "a"}, {[]string{"a", "b/1"}, ""},
	} {
		var files []policy.FileChange
		for _, p := range c.paths {
			files = append(files, policy.FileChange{Path: p})
		}
		if got := areaOf(files); got != c.want {
			t.Errorf("%q is %q, want %q", c.paths, got, c.want)
		}
	}
}
