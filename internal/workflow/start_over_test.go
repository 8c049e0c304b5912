package workflow

import (
	"strings"
	"testing"
)

func TestARunThatStartsOverSaysWhy(t *testing.T) {
	t.Parallel()
	run := lived(t, ordinary(WorkflowFull, true), untilPhase(CIWatch))
	before := run.Progress.Percent
	run = checks(ChecksConflict)(t, run)
	if run.Progress.Percent >= before || !strings.Contains(run.Progress.Message, "the change conflicts with main: carrying the steps out again") {
		t.Errorf("from %d %% to %d %%: %q", before, run.Progress.Percent, run.Progress.Message)
	}
}
