package runner

import (
	"fmt"
	"io/fs"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/workflow"
)

func TestAnEnvironmentOfAnotherSpecificationIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("make environment issue-1-x: %w", &environment.OtherSpecError{Made: environment.Spec{Commit: "old"}})
	got := (&work{Runner: &Runner{}}).failure(workflow.Action{Kind: workflow.CreateEnvironment}, err)
	if got.Retryable || got.ReasonCode != "OTHER_ENVIRONMENT" || len(got.Next) == 0 {
		t.Errorf("got %+v", got)
	}
}

func TestWhatOnlyAPersonCanSettleIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for reason, err := range map[string]error{
		"ENVIRONMENT_GONE": fmt.Errorf("record change: %w", environment.ErrGone),
		// bubblewrap's words, which are not to be taken for a missing bubblewrap
		"NO_PROCESSES":  fmt.Errorf("%w: \"bwrap: Can't fork for pid 1: Resource temporarily unavailable\"", environment.ErrNoIsolation),
		"NO_PERMISSION": &fs.PathError{Op: "read", Path: "/p/it's", Err: fs.ErrPermission},
	} {
		got := (&work{Runner: &Runner{}}).failure(workflow.Action{Kind: workflow.RecordChange}, err)
		if got.Retryable || got.ReasonCode != reason || len(got.Next) == 0 || got.Next[0].Verb == workflow.VerbDoctor {
			t.Errorf("%s: got %+v", reason, got)
		}
	}
}
