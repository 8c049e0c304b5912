package workflow

// Presence is what the engine of Details.Epoch knows of the run's environment because it did it itself. No other
// engine may rely on it, and none of it holds for longer than the engine has the run: see Readmitted.
type Presence struct {
	// Entered: this engine has started something in the environment, so the files there are its own.
	Entered bool `json:"entered,omitzero"`
	// AgentsStart: the run's agents were found to start.
	AgentsStart bool `json:"agents_start,omitzero"`
	// Content is the commit that the environment was just recorded as or brought to; empty once anything ran in it.
	Content string `json:"content,omitzero"`
	// TestedAt is the commit that the environment was at before tests ran in it, and nothing else since: what is
	// there beyond that commit, they left, and would leave again.
	TestedAt string  `json:"tested_at,omitzero"`
	Unknown  Unknown `json:",embed"`
}

// Readmitted is what holds of it when a run is admitted, by the same engine as before or by another one. An action
// that was stopped has no outcome, so what lies in the environment is known to neither.
func (p Presence) Readmitted(same bool) Presence {
	if !same {
		return Presence{Unknown: p.Unknown}
	}
	p.Content, p.TestedAt = "", ""
	return p
}
