package health

// Totals are the counters of state.json that only grow (SPEC H4).
//
// They are kept in the private records too, because state.json may be lost between two CI runs.
type Totals struct {
	RunCount            int `json:"run_count"`
	TotalErrorsDetected int `json:"total_errors_detected"`
	TotalFixesAttempted int `json:"total_fixes_attempted"`
	TotalFixesSucceeded int `json:"total_fixes_succeeded"`
}

// RestoreTotals raises the counters to earlier values after state.json was lost or rewritten. No counter decreases.
func (h *State) RestoreTotals(t Totals) {
	h.RunCount = max(h.RunCount, t.RunCount)
	h.TotalErrorsDetected = max(h.TotalErrorsDetected, t.TotalErrorsDetected)
	h.TotalFixesAttempted = max(h.TotalFixesAttempted, t.TotalFixesAttempted)
	h.TotalFixesSucceeded = max(h.TotalFixesSucceeded, t.TotalFixesSucceeded)
}
