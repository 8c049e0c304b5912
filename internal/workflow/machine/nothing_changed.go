package machine

import (
	"fmt"
	"strings"

	"signalbox/internal/workflow"
)

// mayChangeNothing: code that needs no refactoring is a result. So is a step that has nothing left to do because
// an earlier one did its work with its own, if the tests say so. They do not where none was run, nor of a test that
// was to be written, of a mend, or of a step whose agent was not allowed to use a tool.
func (m *machine) mayChangeNothing() bool {
	j := &m.run.Details
	switch j.Phase {
	case workflow.TDDRefactor:
		return true
	case workflow.TDDGreen:
		tested := len(j.Settings.TestNames()) > 0 || len(j.Settings.TestsE2E) > 0 && m.mustPass()
		return j.StepBase != j.BaseCommit && tested && len(j.Denied) == 0
	}
	return false
}

// changedNothing: the tests in hand, of a step of the implementation, run on what earlier steps left.
func (m *machine) changedNothing() bool {
	j := &m.run.Details
	n := len(j.Moves)
	merge := n > 0 && j.Moves[n-1].Base != "" && j.Moves[n-1].Commit == j.Head // the head is the base branch, merged into the change
	return j.Phase == workflow.TDDGreen && j.Head == j.StepBase && !merge
}

// nothingChanged sends a step back whose agent ended well and changed no file. The tests are those that then failed,
// if any were run.
func (m *machine) nothingChanged(tests workflow.TestsEnded) {
	j := &m.run.Details
	reason := "You ended without changing any file. Change the files in the working directory."
	message := fmt.Sprintf("%s called %d times and no file differs", m.answered.StepID, j.Used.AgentRetries+1)
	if tests.Summary != "" {
		reason += "\nThe tests fail:\n" + tests.Summary
		message += "; the tests fail:\n" + tests.Summary
	}
	if j.Used.AgentRetries < j.Settings.Limits.AgentRetries {
		j.Used.AgentRetries++
		m.run.Counters.Retries++
		m.workAgain(reason)
		return
	}
	if len(j.Denied) > 0 {
		message += "; it was not allowed to use " + strings.Join(j.Denied, ", ") + " (agents.….permissions)"
	}
	stop := m.problem(workflow.CategoryExecution, workflow.NoChangeCode, "the agent ended well and changed nothing", message)
	stop.RelatedPaths = paths(tests.LogPath)
	m.fail(stop, workflow.Action{})
}
