package change

import (
	"path"
	"strings"

	"signalbox/internal/workflow"
)

// Step is a part of a change that was recorded as one commit. Title is empty for a fix of what was found.
type Step struct {
	ID, Title string
	Size      workflow.DiffStat
	patch     string
}

// Steps returns the parts of a change in the order of their commits.
func Steps(run *workflow.Run) (steps []Step) {
	for _, patch := range run.Artifacts.Patches {
		s := Step{ID: strings.TrimSuffix(path.Base(patch), ".patch"), patch: patch}
		for i := range run.Steps {
			if planned := &run.Steps[i]; planned.StepID == s.ID {
				s.Title, s.Size = planned.Title, planned.DiffStat
			}
		}
		steps = append(steps, s)
	}
	return steps
}
