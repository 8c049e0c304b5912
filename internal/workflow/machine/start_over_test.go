package machine

import (
	"strings"
	"testing"

	"signalbox/internal/workflow"
)

func TestARunThatGoesBackSaysWhy(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(workflow.WorkflowFull, true), untilPhase(workflow.CIWatch))
	before := run.Progress.Percent
	run = checks(workflow.ChecksConflict)(t, run)
	if run.Progress.Percent >= before || !strings.Contains(run.Progress.Message, "the change conflicts with main: merging main into it") {
		t.Errorf("from %d %% to %d %%: %q", before, run.Progress.Percent, run.Progress.Message)
	}
}
