package workflow

// RunRef names a run. Both parts are names that the store checks before it does anything with them.
type RunRef struct{ RequestID, RunID string }

// RefOf returns the reference of a run that was read or is about to be created.
func RefOf(run *Run) RunRef { return RunRef{run.RequestID, run.RunID} }

func (r RunRef) String() string { return r.RequestID + "/" + r.RunID }
