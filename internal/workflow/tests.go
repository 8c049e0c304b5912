package workflow

// Result is the event in the words of R11.
func (e TestsEnded) Result() TestResult {
	r := TestResult{Status: TestPass, Command: &e.Command, DurationMS: &e.DurationMS}
	if e.LogPath != "" {
		r.LogPath = &e.LogPath
	}
	if !e.Passed {
		r.Status, r.FailedSummary = TestFail, &e.Summary
	}
	return r
}
