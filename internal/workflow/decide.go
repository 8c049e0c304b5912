package workflow

import (
	"fmt"
	"slices"
)

// Percent is the share of the phases to go through that are behind the run;
// steps divide their phase's.
func (r *Run) Percent() int {
	if r.State == Done {
		return 100
	}
	behind, all := 0, 0
	for _, p := range r.Journey.Phases {
		switch p.Status {
		case StepSkipped:
			continue
		case StepDone:
			behind++
		}
		all++
	}
	done, planned := 0, 0
	for _, s := range r.Steps {
		if s.Phase == r.Journey.Phase.Step() {
			planned++
			if s.Status == StepDone || s.Status == StepSkipped {
				done++
			}
		}
	}
	percent := behind * 100 / all
	if planned > 0 {
		percent += done * 100 / planned / all
	}
	return min(percent, 99)
}

func (r Run) Clone() Run {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Logs = slices.Clip(r.Steps[i].Logs) // so that appending makes a list of its own
	}
	r.Artifacts.Patches = slices.Clone(r.Artifacts.Patches)
	r.Signals.Commands = slices.Clone(r.Signals.Commands)
	j := &r.Journey
	j.Phases, j.Pending = slices.Clone(j.Phases), slices.Clone(j.Pending)
	j.Aside, j.Moves = slices.Clone(j.Aside), slices.Clone(j.Moves)
	j.Findings, j.Flags, j.Evidence = slices.Clone(j.Findings), slices.Clone(j.Flags), slices.Clone(j.Evidence)
	if j.SetUp != nil {
		setUp := *j.SetUp
		setUp.Errors, setUp.Ran, setUp.Verified = slices.Clone(setUp.Errors), slices.Clone(setUp.Ran), slices.Clone(setUp.Verified)
		j.SetUp = &setUp
	}
	if j.Tested != nil {
		tested := *j.Tested
		j.Tested = &tested
	}
	if j.PullRequest != nil {
		pr := *j.PullRequest
		j.PullRequest = &pr
	}
	return r
}

func CountNote(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
