package detect

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Part is a part of the project that the setup leaves out: a part of another kind than the chosen one, or a
// further folder of the chosen kind.
type Part struct {
	Environment string `json:"environment"`
	// Source names the files that the commands come from.
	Source string `json:"source"`
	// Commands would set it up, after the setup's own and in their shell.
	Commands []string `json:"setup_commands"`
}

// leaveParts records the parts. The project's own commands may do more than they show: a kind whose
// installer they name counts as set up, and all kinds do if they start a script.
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
	s.result.Notes = notes // no one needs notes about an unused plan
}

// followed returns the text of the setup's commands with their recipes, and whether they come from a
// description.
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

// collectDefaults records the setups of the environments that weren't chosen: from the project's manifests
// or, if they ask for nothing, from the catalogue.
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
	s.result.Notes = notes // no one needs notes about an unused plan
}

// unsupported are the manifests of kinds without a setup here. Silence about them would look as if nothing
// were needed.
var unsupported = map[string]string{
	"Cargo.toml": "Rust", "Gemfile": "Ruby", "composer.json": "PHP", "mix.exs": "Elixir", "pubspec.yaml": "Dart", "Package.swift": "Swift",
	"build.sbt": "Scala", "stack.yaml": "Haskell", "deno.json": "Deno", "bun.lock": "Bun", "bun.lockb": "Bun",
	"CMakeLists.txt": "CMake", "meson.build": "Meson",
}

// noteUnsupported names the outermost manifest of each such kind, unless the setup comes from the project's
// own description.
func (s *survey) noteUnsupported() {
	if _, described := s.followed(); described {
		return
	}
	outermost := map[string]string{}
	for _, name := range s.names {
		kind := unsupported[path.Base(name)]
		if kind == "" && path.Ext(name) == ".csproj" {
			kind = ".NET"
		}
		if kind == "" || passedOver(name) || !plain(name) {
			continue
		}
		if before := outermost[kind]; before == "" || depth(name) < depth(before) {
			outermost[kind] = name
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(outermost)) {
		s.note("%s needs %s, which has no known setup: write one into environment.set_up", outermost[kind], kind)
	}
}
