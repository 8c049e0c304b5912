package workflow

import (
	"strings"

	"signalbox/internal/workflow/wording"
)

// Failure says on one line that the set-up failed and why; empty unless it did.
func (s *SetUp) Failure() string {
	if s == nil || s.Status != SetUpFailed {
		return ""
	}
	return "the environment's set-up failed: " + s.Why()
}

// Warnings are what a person should know of the set-up, whatever became of the run, one line each.
func (s *SetUp) Warnings() (lines []string) {
	if failure := s.Failure(); failure != "" {
		lines = append(lines, failure+"; the work goes on without it")
	}
	if s != nil && s.Dropped != "" {
		lines = append(lines, "the set-up was run from nothing, because "+s.Dropped)
	}
	if s != nil && len(s.Untracked) > 0 {
		lines = append(lines, "the set-up wrote "+wording.Printable(strings.Join(s.Untracked, ", "))+
			": gone, or as before, when the agent begins, because git does not ignore it; name it in .gitignore, or put it in a folder of its own")
	}
	return lines
}

// Why is what went wrong last, on one line.
func (s *SetUp) Why() string { return wording.FirstLine(s.LastError()) }

// LastError is what went wrong last.
func (s *SetUp) LastError() string {
	if len(s.Errors) == 0 {
		return ""
	}
	return s.Errors[len(s.Errors)-1]
}

// Warnings are what a person should know of where the run began, whatever became of it, one line each.
func (j *Details) Warnings() []string {
	lines := j.SetUp.Warnings()
	for _, failed := range j.FailedBefore() {
		lines = append(lines, "the tests failed before anything was changed: "+wording.FirstLine(failed))
	}
	return lines
}
