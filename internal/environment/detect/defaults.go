package detect

import "slices"

// Default is how one environment of the catalogue would be set up if it were chosen.
type Default struct {
	Environment  string         `json:"environment"`
	SetUp        []string       `json:"setup_commands"`
	Verification []Verification `json:"verification"`
}

// collectDefaults says it of those that were not: what the project's manifests ask for there, and the catalogue's word
// where they ask for nothing.
func (s *survey) collectDefaults(chosen Environment, catalogue []Environment) {
	notes := s.result.Notes
	for _, e := range catalogue {
		if e.Name == chosen.Name {
			continue
		}
		p := s.manifestPlan(e)
		d := Default{Environment: e.Name, SetUp: slices.Clone(p.commands), Verification: p.verification()}
		if len(d.SetUp) == 0 {
			d.SetUp = slices.Clone(e.SetUp)
		}
		if len(d.Verification) == 0 {
			d.Verification = e.Verification
		}
		s.result.Defaults = append(s.result.Defaults, d)
	}
	s.result.Notes = notes // planning what is not done has nothing to tell
}
