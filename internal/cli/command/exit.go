package command

import (
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

// Ended is the exit code of a run that went as far as it goes.
func Ended(state workflow.State) error {
	codes := map[workflow.State]int{workflow.Done: problem.OK, workflow.NeedsInput: problem.NeedsInput, workflow.Failed: problem.Failed,
		workflow.Canceled: problem.Canceled, workflow.Queued: problem.NeedsInput, workflow.Running: problem.General}
	if code := codes[state]; code != problem.OK {
		return &problem.Error{Code: code}
	}
	return nil
}
