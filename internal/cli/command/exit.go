package command

import (
	"signalbox/internal/problem"
	"signalbox/internal/workflow"
)

const ExitCodes = `Exit codes:
  0  done, or shown
  1  an error
  2  wrong command line
  3  the run is waiting for you
  4  the run failed, or a session ended in an error
  5  another process has the run, or a session works on its request
  6  no such request or run
  7  the run was canceled
  8  self-healing: nothing is due, or a pass is running (heal gate)
  9  self-healing: cooldown (heal, heal gate)
 10  this project's files need your agreement (signalbox trust)`

// Ended is the exit code of a run that went as far as it goes.
func Ended(state workflow.State) error {
	codes := map[workflow.State]int{workflow.Done: problem.OK, workflow.NeedsInput: problem.NeedsInput, workflow.Failed: problem.Failed,
		workflow.Canceled: problem.Canceled, workflow.Queued: problem.NeedsInput, workflow.Running: problem.General}
	if code := codes[state]; code != problem.OK {
		return &problem.Error{Code: code}
	}
	return nil
}
