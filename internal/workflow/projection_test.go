package workflow

import (
	"slices"
	"strings"
	"testing"
	"time"
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
		row := Phase(i).Position()
		if row.Phase != Phase(i) || string(row.Step) != want.step || stagesOf(row) != want.stages ||
			string(row.Progress) != want.progress || row.Resume != want.resume || row.Doing == "" {
			t.Errorf("phase %d is %+v, want %+v", i, row, want)
		}
		if p, ok := PhaseOf(row.Step); !ok || p != Phase(i) || !p.Valid() || p.String() != want.step {
			t.Errorf("%s is phase %d, want %d", want.step, p, i)
		}
	}
	if len(Positions) != 15 {
		t.Errorf("there are %d phases, want 15", len(Positions))
	}
}

func stagesOf(row Position) string {
	stages := row.Stages
	if stages == nil {
		stages = []Stage{row.Stage}
	}
	words := make([]string, len(stages))
	for i, s := range stages {
		words[i] = string(s)
	}
	return strings.Join(words, " ")
}

func TestUnknownPositionsAreResumedAtTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range []Phase{-1, 15, 999} {
		if p.Valid() || p.Position().Resume != "open_environment" {
			t.Errorf("phase %d is valid: %t, resumed with %s", p, p.Valid(), p.Position().Resume)
		}
	}
	if _, ok := PhaseOf("dance"); ok {
		t.Error(`there is a phase "dance"`)
	}
}

func TestAsEnvironment(t *testing.T) {
	t.Parallel()
	full := ordinary(WorkflowFull, true)
	failing := times(1, untilPhase(CIWatch), checks(ChecksFailed))
	for _, test := range []struct {
		name   string
		acts   []act
		status EnvironmentStatus // empty when there is no entry
		phase  Phase
	}{
		{"before there is an environment there is no entry", []act{untilPhase(EnvCreate)}, "", 0},
		{"work in progress is active", []act{untilPhase(TDDGreen)}, EnvironmentActive, TDDGreen},
		{"a stop by a person leaves it active", []act{untilPhase(TDDGreen), does(StopRequested{})}, EnvironmentActive, TDDGreen},
		{"an open pull request", []act{untilPhase(CIWatch)}, EnvironmentPRCreated, CIWatch},
		{"a blocked one", []act{times(3, failing)}, EnvironmentBlocked, ReviewFix},
		{"blocked goes back to pr_created after unblocking", []act{times(3, failing), does(Resumed{})}, EnvironmentPRCreated, ReviewFix},
		{"blocked without a pull request goes back to active",
			[]act{untilPhase(DesignCheck), plans(Plan{Design: &Feasibility{}}), does(Resumed{})}, EnvironmentActive, DesignCheck},
		{"a merged one", []act{untilPhase(MergeCleanup), well}, EnvironmentMerged, MergeCleanup},
		{"a merged one of which the rest is done", []act{toTheEnd}, EnvironmentMerged, ParentClose},
		{"one that is being given up", []act{untilPhase(CIWatch), does(StopRequested{Cancel: true})}, EnvironmentAbandoned, CIWatch},
		{"one that was put away has no entry", []act{untilPhase(TDDGreen), does(StopRequested{Cancel: true}), well}, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := lived(t, full, test.acts...)
			entry, ok := run.AsEnvironment()
			if ok != (test.status != "") || ok && (entry.Status != test.status || entry.Phase != test.phase || entry.Step != test.phase.Step()) {
				t.Errorf("%t: %s at %d %s, want %s at %d", ok, entry.Status, entry.Phase, entry.Step, test.status, test.phase)
			}
			if ok && (entry.Blocked != nil) != (test.status == EnvironmentBlocked) {
				t.Errorf("blocked is %+v", entry.Blocked)
			}
		})
	}
}

func TestAnEntryHasTheAreaThatItsRequestNames(t *testing.T) {
	t.Parallel()
	changed := times(1, untilPhase(TDDGreen), well, changes(FileChange{Path: "web/a.ts", NewMode: "100644"}))
	s := ordinary(WorkflowFull, true)
	for _, c := range []struct {
		named, want string
		until       act
	}{{"", "", untilPhase(DesignCheck)}, {"", "web", changed}, {"backend", "backend", untilPhase(DesignCheck)}, {"backend", "backend", changed}} {
		s.Area = c.named
		run := lived(t, s, c.until)
		if entry, _ := run.AsEnvironment(); entry.Area != c.want {
			t.Errorf("a request that names %q has the area %q in %s, want %q", c.named, entry.Area, where(run), c.want)
		}
	}
}

func TestAnEntrySaysWhatIsPending(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(ReviewRequest), reviewFinds)
	entry, _ := run.AsEnvironment()
	if !slices.Equal(entry.PendingIssues, []string{"parse.go: reads past the end"}) {
		t.Errorf("pending_issues are %q", entry.PendingIssues)
	}
	if entry.PRNumber != nil || entry.IssueNumber != 42 || entry.Branch != "signalbox/42-fix-the-parser" || !entry.CreatedAt.Equal(epoch) {
		t.Errorf("the entry is %+v", entry)
	}
	run = untilPhase(CIWatch)(t, run)
	entry, _ = run.AsEnvironment()
	if len(entry.PendingIssues) != 0 || entry.PRNumber == nil || *entry.PRNumber != 7 {
		t.Errorf("after the mend: %q, pull request %v", entry.PendingIssues, entry.PRNumber)
	}
}

func TestAFindingIsOneLineWhateverItHolds(t *testing.T) {
	t.Parallel()
	f := Finding{File: "a\x1b[2J", Text: "one\ntwo\r\x00\u009b\xff"}
	if got, want := f.Line1(), "a?[2J: one?two????"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAsIssueStatus(t *testing.T) {
	t.Parallel()
	full := ordinary(WorkflowFull, true)
	for _, test := range []struct {
		name    string
		acts    []act
		want    IssueStatusWord
		message string
	}{
		{"a queued run is running to whoever waits", nil, IssueRunning, ""},
		{"a running run", []act{untilPhase(TDDGreen)}, IssueRunning, ""},
		{"a merged run is complete", []act{toTheEnd}, IssueComplete, ""},
		{"a canceled run is an error", []act{does(StopRequested{Cancel: true})}, IssueError, "canceled"},
		{"a stopped run is an error that says why", []act{untilPhase(TDDGreen), does(StopRequested{})}, IssueError,
			"stopped by a person: stopped while implementing"},
		{"a failed run is an error that says why", []act{untilPhase(TDDGreen), times(3, agentFails("AGENT_HUNG"))}, IssueError,
			"the implementer printed nothing for too long: it ended"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := lived(t, full, test.acts...)
			run.UpdatedAt = epoch.In(time.FixedZone("JST", 9*3600))
			s := run.AsIssueStatus()
			if s.Status != test.want || s.ErrorMessage != test.message || s.Issue != 42 || s.Session != "signalbox-issue-42" {
				t.Errorf("%+v", s)
			}
			if s.Timestamp.Location() != time.UTC {
				t.Errorf("the time is %s", s.Timestamp)
			}
		})
	}
}

func TestProgressPhase(t *testing.T) {
	t.Parallel()
	withSetUp := plan
	withSetUp.Environment = setUp
	full := ordinary(WorkflowFull, true)
	begun := times(1, untilAction(CallAgent), plans(withSetUp), untilAction(RunSetUp))
	for _, test := range []struct {
		acts []act
		want ProgressPhase
	}{
		{nil, ProgressPrePlanning},
		{[]act{untilPhase(DesignCheck)}, ProgressPlanning},
		{[]act{begun}, ProgressEnvironmentSetup},
		{[]act{begun, does(StopRequested{})}, ProgressEnvironmentSetup},
		{[]act{begun, well, well, well}, ProgressExecution},
		{[]act{untilPhase(ReviewRequest)}, ProgressReflection},
		{[]act{untilPhase(CIWatch)}, ProgressVerification},
		{[]act{toTheEnd}, ProgressComplete},
	} {
		if run := lived(t, full, test.acts...); run.ProgressPhase() != test.want {
			t.Errorf("%s is in %s, want %s", where(run), run.ProgressPhase(), test.want)
		}
	}
}

// Percent grows while all goes well and says 100 for what is merged alone.
func TestPercentGrows(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), does(Admitted{}))
	for run.State == Running {
		before := run.Progress.Percent
		run = well(t, run)
		if p := run.Progress.Percent; p < before || (p == 100) != (run.State == Done) {
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
		var files []FileChange
		for _, p := range c.paths {
			files = append(files, FileChange{Path: p})
		}
		if got := areaOf(files); got != c.want {
			t.Errorf("%q is %q, want %q", c.paths, got, c.want)
		}
	}
}
