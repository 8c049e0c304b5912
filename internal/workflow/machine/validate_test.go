package machine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"signalbox/internal/workflow"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	atWork := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	stopped := does(workflow.StopRequested{})(t, atWork)
	merged := lived(t, ordinary(workflow.WorkflowFull, true), toTheEnd)
	for _, test := range []struct {
		name  string
		run   workflow.Run
		spoil func(*workflow.Run)
		want  string // part of the error; empty when there is none
	}{
		{"a new run holds", newRun(ordinary(workflow.WorkflowFull, true)), func(*workflow.Run) {}, ""},
		{"a running run holds", atWork, func(*workflow.Run) {}, ""},
		{"a stopped run holds", stopped, func(*workflow.Run) {}, ""},
		{"a merged run holds", merged, func(*workflow.Run) {}, ""},
		{"another version", atWork, func(r *workflow.Run) { r.Version = "2.0" }, `version "2.0"`},
		{"a state of another world", atWork, func(r *workflow.Run) { r.State = "PAUSED" }, `state "PAUSED"`},
		{"a stage of another world", atWork, func(r *workflow.Run) { r.Stage = "LUNCH" }, `stage "LUNCH"`},
		{"no request", atWork, func(r *workflow.Run) { r.RequestID = "" }, "request_id"},
		{"no run id", atWork, func(r *workflow.Run) { r.RunID = "" }, "run_id"},
		{"an index before the first step", atWork, func(r *workflow.Run) { r.CurrentStepIndex = -1 }, "current_step_index -1"},
		{"an index after the last step", atWork, func(r *workflow.Run) { r.CurrentStepIndex = 3 }, "current_step_index 3 is outside 0 to 2"},
		{"an index without steps", newRun(ordinary(workflow.WorkflowFull, true)), func(r *workflow.Run) { r.CurrentStepIndex = 1 }, "current_step_index"},
		{"less than nothing done", atWork, func(r *workflow.Run) { r.Progress.Percent = -1 }, "percent"},
		{"more than everything done", atWork, func(r *workflow.Run) { r.Progress.Percent = 101 }, "percent"},
		{"a running run that has ended", atWork, func(r *workflow.Run) { r.EndedAt = &epoch }, "ended_at"},
		{"a merged run without an end", merged, func(r *workflow.Run) { r.EndedAt = nil }, "ended_at"},
		{"a stopped run without an end", stopped, func(r *workflow.Run) { r.EndedAt = nil }, "ended_at"},
		{"a running run with an error", atWork, func(r *workflow.Run) { r.Error = stopped.Error }, "error must be set exactly"},
		{"a stopped run without an error", stopped, func(r *workflow.Run) { r.Error = nil }, "error must be set exactly"},
		{"an error that says nothing to do", stopped, func(r *workflow.Run) { r.Error = &workflow.Error{ReasonCode: "X"} }, "at least one action"},
		{"an error without a reason", stopped, func(r *workflow.Run) { r.Error = &workflow.Error{Next: []workflow.NextStep{workflow.Advice("wait")}} }, "reason_code"},
		{"steps out of order", atWork, func(r *workflow.Run) { slices.Reverse(r.Steps) }, `"S03" is not "S01"`},
		{"a step never attempted", atWork, func(r *workflow.Run) { r.Steps[0].Attempt = 0 }, "attempt 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := clone(test.run)
			test.spoil(&run)
			err := run.Validate()
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v does not speak of %s", err, test.want)
			}
		})
	}
}

func TestValidateNamesEveryProblem(t *testing.T) {
	t.Parallel()
	err := new(workflow.Run).Validate()
	for _, part := range []string{"version", "state", "stage", "request_id"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("an empty document: %v does not speak of the %s", err, part)
		}
	}
}

// The whole of R16: a row is the state before, a column the state after.
func TestMayBecome(t *testing.T) {
	t.Parallel()
	//                       QUEUED RUNNING NEEDS_INPUT FAILED DONE CANCELED
	allowed := map[workflow.State][]bool{
		workflow.Queued:     {true, true, true, false, false, true},
		workflow.Running:    {true, true, true, true, true, true},
		workflow.NeedsInput: {true, true, true, false, false, true},
		workflow.Failed:     {true, false, false, true, false, true},
		workflow.Done:       {false, false, false, false, true, false},
		workflow.Canceled:   {false, false, false, false, false, true},
		"PAUSED":            {false, false, false, false, false, false},
	}
	for from, row := range allowed {
		for i, want := range row {
			if got := from.MayBecome(workflow.States[i]); got != want {
				t.Errorf("%s → %s is allowed: %t, want %t", from, workflow.States[i], got, want)
			}
		}
	}
}

func TestFollowsPlan(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.TDDGreen))
	for _, test := range []struct {
		name  string
		steps []workflow.PlannedStep
		want  bool
	}{
		{"the same steps in the same order", []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02"}, {StepID: "S03"}}, true},
		{"another order", []workflow.PlannedStep{{StepID: "S02"}, {StepID: "S01"}, {StepID: "S03"}}, false},
		{"a step more", []workflow.PlannedStep{{StepID: "S01"}, {StepID: "S02"}, {StepID: "S03"}, {StepID: "S04"}}, false},
		{"a step less", []workflow.PlannedStep{{StepID: "S01"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if err := run.FollowsPlan(workflow.Plan{Actions: workflow.ActionPlan{Steps: test.steps}}); (err == nil) != test.want {
				t.Error(err)
			}
		})
	}
}

func TestWordsAboutStates(t *testing.T) {
	t.Parallel()
	for state, want := range map[workflow.State]struct {
		final, ended bool
		label        string
	}{
		workflow.Queued: {false, false, "Queued"}, workflow.Running: {false, false, "Running"}, workflow.NeedsInput: {false, true, "Needs input"},
		workflow.Failed: {false, true, "Failed"}, workflow.Done: {true, true, "Done"}, workflow.Canceled: {true, true, "Canceled"},
	} {
		if state.Final() != want.final || state.Ended() != want.ended || state.Label() != want.label {
			t.Errorf("%s: final %t, ended %t, label %q; want %+v", state, state.Final(), state.Ended(), state.Label(), want)
		}
	}
}

func TestPathsThatLeaveTheProjectAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"/etc/passwd", "../x", "runs/../../x", "a\x00b"} {
		for name, set := range map[string]func(*workflow.Run){
			"patch_path":   func(r *workflow.Run) { r.Steps = []workflow.Step{{StepID: "S01", Attempt: 1, PatchPath: &bad}} },
			"logs":         func(r *workflow.Run) { r.Steps = []workflow.Step{{StepID: "S01", Attempt: 1, Logs: []string{bad}}} },
			"report_md":    func(r *workflow.Run) { r.Artifacts.ReportMD = bad },
			"logs_dir":     func(r *workflow.Run) { r.Artifacts.LogsDir = bad },
			"env_path":     func(r *workflow.Run) { r.Details.EnvPath = bad },
			"log_path":     func(r *workflow.Run) { r.Details.Evidence = []workflow.Evidence{{LogPath: bad}} },
			"patches":      func(r *workflow.Run) { r.Artifacts.Patches = []string{bad} },
			"request_path": func(r *workflow.Run) { r.Artifacts.RequestPath = bad },
		} {
			run := newRun(settings(workflow.WorkflowFull, true))
			set(&run)
			if err := run.Validate(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %q: %v", name, bad, err)
			}
		}
	}
	run := newRun(settings(workflow.WorkflowFull, true))
	run.Details.EnvPath = ".worktrees/issue-42-fix..the-parser"
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
}

func TestNothingEndsBeforeItBeganWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	run, _ := Decide(newRun(settings(workflow.WorkflowSimple, true)), workflow.Admitted{}, epoch)
	run, _ = Decide(run, workflow.Interrupted{}, epoch.Add(-time.Hour))
	if run.EndedAt == nil || run.EndedAt.Before(run.StartedAt) || run.UpdatedAt.Before(run.StartedAt) {
		t.Errorf("started at %s, updated at %s, ended at %v", run.StartedAt, run.UpdatedAt, run.EndedAt)
	}
	if p := run.Details.Phases[0]; p.EndedAt == nil || p.EndedAt.Before(*p.StartedAt) {
		t.Errorf("its phase started at %v and ended at %v", p.StartedAt, p.EndedAt)
	}
}

func TestEveryStateHasItsLabelInBothLanguages(t *testing.T) {
	t.Parallel()
	want := []string{"実行待ち", "実行中", "要対応", "失敗", "完了", "中断"}
	for i, s := range workflow.States {
		if got := s.LabelIn("ja"); got != want[i] {
			t.Errorf("%s is %q, want %q", s, got, want[i])
		}
		if s.LabelIn("de") != s.Label() || s.Label() == "" {
			t.Errorf("%s has no English label", s)
		}
	}
}
