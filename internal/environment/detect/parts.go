package detect

import (
	"slices"
	"strings"
)

// Part is a part of the project that the setup leaves out: a part of another kind than the chosen one, or a folder beside the one that was chosen
// for its kind.
type Part struct {
	Environment string `json:"environment"`
	// Source names the files that the commands come from.
	Source string `json:"source"`
	// Commands would set it up, after the setup's own and in their shell.
	Commands []string `json:"setup_commands"`
}

// leaveParts records them. What the project itself describes may do more than can be seen: a
// kind whose installer it names is taken to be set up, and all kinds where it starts a script.
func (s *survey) leaveParts(chosen Environment, catalogue []Environment) {
	text, described := s.followed()
	if described && len(s.scripts(text)) > 0 {
		return
	}
	notes := s.result.Notes
	for _, e := range catalogue {
		installs, known := installers[e.Name]
		switch {
		case !known || e.Name == Python && chosen.Name == Miniforge:
		case e.Name != chosen.Name && !installs().MatchString(text):
			s.leave(e, s.manifestPlan(e))
		case e.Name == chosen.Name && !described:
			for _, p := range s.manifestPlan(e).left {
				s.leave(e, p)
			}
		}
	}
	s.result.Notes = notes // notes about a plan that is not used help no one
}

// followed returns the text of the setup's commands and of the scripts they start, if a description contains them.
func (s *survey) followed() (text string, described bool) {
	text = strings.Join(s.result.SetUp, "\n")
	i := slices.IndexFunc(s.result.Descriptions, func(d Description) bool { return d.Path == s.result.SetUpSource })
	if i < 0 {
		return text, false
	}
	return text + "\n" + s.result.Descriptions[i].recipe, true
}

func (s *survey) leave(e Environment, p plan) {
	if len(p.commands) > 0 {
		s.result.NotSetUp = append(s.result.NotSetUp, Part{e.Name, strings.Join(p.source, ", "), slices.Clone(p.commands)})
	}
}

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
