package runner

import (
	"fmt"
	"testing"

	"signalbox/internal/environment"
	"signalbox/internal/workflow"
)

func TestAnEnvironmentOfAnotherSpecificationIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("make environment issue-1-x: %w", &environment.OtherSpecError{Made: environment.Spec{Commit: "old"}})
	got := (&work{Runner: &Runner{}}).failure(workflow.Action{Kind: workflow.CreateEnvironment}, err)
	if got.Retryable || got.ReasonCode != "OTHER_ENVIRONMENT" || len(got.Actions) == 0 {
		t.Errorf("got %+v", got)
	}
}
