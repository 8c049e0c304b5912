package workflow

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// InvalidError is one broken rule of a document.
type InvalidError struct {
	// Pointer says where, as a JSON Pointer (RFC 6901).
	Pointer string
	Reason  string
}

func (e *InvalidError) Error() string { return e.Reason }

// Validate checks the rules that must hold before every save and after every load. It compares nothing with other files; see FollowsPlan and
// MayBecome.
func (r *Run) Validate() error {
	var problems []error
	bad := func(pointer, format string, a ...any) {
		problems = append(problems, &InvalidError{pointer, fmt.Sprintf(format, a...)})
	}
	if r.Version != RunVersion {
		bad("/version", "version %q is not %q", r.Version, RunVersion)
	}
	if !slices.Contains(States, r.State) {
		bad("/state", "state %q is unknown", r.State)
	}
	if !slices.Contains(Stages, r.Stage) {
		bad("/stage", "stage %q is unknown", r.Stage)
	}
	if r.RequestID == "" || r.RunID == "" {
		bad("/request_id", "request_id and run_id must be set")
	}
	if i := r.CurrentStepIndex; i < 0 || i >= max(1, len(r.Steps)) {
		bad("/current_step_index", "current_step_index %d is outside 0 to %d", i, max(0, len(r.Steps)-1))
	}
	if p := r.Progress.Percent; p < 0 || p > 100 {
		bad("/progress/percent", "progress.percent %d is outside 0 to 100", p)
	}
	if r.State.Ended() != (r.EndedAt != nil) {
		bad("/ended_at", "ended_at must be set exactly when the state is an ended one, and state is %s", r.State)
	}
	if stopped := r.State == NeedsInput || r.State == Failed; stopped != (r.Error != nil) {
		bad("/error", "error must be set exactly when state is NEEDS_INPUT or FAILED, and state is %s", r.State)
	}
	if r.Error != nil && (len(r.Error.Next) == 0 || r.Error.ReasonCode == "") {
		bad("/error", "error needs a reason_code and at least one action")
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if want := fmt.Sprintf("S%02d", i+1); s.StepID != want {
			bad(fmt.Sprintf("/steps/%d/step_id", i), "steps[%d].step_id %q is not %q", i, s.StepID, want)
		}
		if s.Attempt < 1 {
			bad(fmt.Sprintf("/steps/%d/attempt", i), "steps[%d].attempt %d is below 1", i, s.Attempt)
		}
	}
	r.eachPath(func(p, format string, entry int) {
		if strings.HasPrefix(p, "/") || strings.ContainsRune(p, 0) || slices.Contains(strings.Split(p, "/"), "..") {
			at := format
			if strings.Contains(format, "%") {
				at = fmt.Sprintf(format, entry)
			}
			bad(at, "%s %q is not a path inside the project", at[1:], p)
		}
	})
	return errors.Join(problems...)
}

// eachPath calls visit with each path in the document, with slashes, and its JSON pointer, in which %d stands for the number of the entry. An empty
// path names no file.
func (r *Run) eachPath(visit func(p, pointer string, entry int)) {
	each := func(pointer string, entry int, paths ...string) {
		for _, p := range paths {
			visit(p, pointer, entry)
		}
	}
	one := func(pointer string, entry int, p *string) {
		if p != nil {
			visit(*p, pointer, entry)
		}
	}
	a := &r.Artifacts
	each("/artifacts/request_path", 0, a.RequestPath)
	one("/artifacts/planning_json", 0, a.PlanningJSON)
	each("/artifacts/report_md", 0, a.ReportMD)
	one("/artifacts/errors_json", 0, a.ErrorsJSON)
	each("/artifacts/patches", 0, a.Patches...)
	each("/artifacts/logs_dir", 0, a.LogsDir)
	each("/signalbox/env_path", 0, r.Details.EnvPath)
	for i := range r.Steps {
		s := &r.Steps[i]
		one("/steps/%d/patch_path", i, s.PatchPath)
		each("/steps/%d/logs", i, s.Logs...)
		one("/steps/%d/test/unit/log_path", i, s.Test.Unit.LogPath)
		one("/steps/%d/test/e2e/log_path", i, s.Test.E2E.LogPath)
	}
	for i := range r.Details.Evidence {
		each("/signalbox/evidence/%d/log_path", i, r.Details.Evidence[i].LogPath)
	}
}

// FollowsPlan checks that steps[] has the ids and the order of planning.json.
func (r *Run) FollowsPlan(plan Plan) error {
	planned := plan.Actions.Steps
	if len(r.Steps) != len(planned) {
		return &InvalidError{"/steps", fmt.Sprintf("steps has %d entries where planning.json has %d", len(r.Steps), len(planned))}
	}
	for i, s := range planned {
		if r.Steps[i].StepID != s.StepID {
			return &InvalidError{fmt.Sprintf("/steps/%d/step_id", i),
				fmt.Sprintf("steps[%d] is %q where planning.json has %q", i, r.Steps[i].StepID, s.StepID)}
		}
	}
	return nil
}

// transitions are the states that may follow each state. No other change of state is ever saved.
var transitions = map[State][]State{
	Queued:     {Running, NeedsInput, Canceled},
	Running:    {NeedsInput, Failed, Done, Canceled, Queued},
	NeedsInput: {Queued, Running, Canceled},
	Failed:     {Queued, Canceled},
}

// MayBecome reports whether a run in state s may be saved in state next. Three changes go beyond the published format: RUNNING→QUEUED, for a run that
// waits again for its slot or is parked; QUEUED→NEEDS_INPUT, when a person stops a waiting run that has work to keep, or its process ends; and
// FAILED→CANCELED, when a person gives the run up.
func (s State) MayBecome(next State) bool {
	return s == next || slices.Contains(transitions[s], next)
}
