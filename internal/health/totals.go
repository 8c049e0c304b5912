package health

// Totals are the numbers of state.json that only grow (H4).
type Totals struct {
	RunCount            int `json:"run_count"`
	TotalErrorsDetected int `json:"total_errors_detected"`
	TotalFixesAttempted int `json:"total_fixes_attempted"`
	TotalFixesSucceeded int `json:"total_fixes_succeeded"`
}

// GoOnWith takes over totals that were reached before; none gets less.
func (h *State) GoOnWith(t Totals) {
	h.RunCount = max(h.RunCount, t.RunCount)
	h.TotalErrorsDetected = max(h.TotalErrorsDetected, t.TotalErrorsDetected)
	h.TotalFixesAttempted = max(h.TotalFixesAttempted, t.TotalFixesAttempted)
	h.TotalFixesSucceeded = max(h.TotalFixesSucceeded, t.TotalFixesSucceeded)
}
