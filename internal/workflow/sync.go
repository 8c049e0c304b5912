package workflow

// MaySync reports whether the base branch of now can be merged into the run's change: every step is done, and the run
// stands still before its merge.
func (r *Run) MaySync() bool {
	j := &r.Details
	if r.State != NeedsInput && r.State != Failed || j.Canceling || j.MergeCommit != "" || j.Head == j.BaseCommit || len(r.Steps) == 0 {
		return false
	}
	for _, s := range r.Steps {
		if s.Status != StepDone && s.Status != StepSkipped {
			return false
		}
	}
	return true
}
